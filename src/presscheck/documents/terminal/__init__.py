"""A page as terminal lines: blocks, tables, code, tabs, hints."""
