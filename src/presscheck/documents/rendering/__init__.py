"""How a page becomes lines: its grammar, its inline text, its blocks, tables and code, wrapped by the cell."""
