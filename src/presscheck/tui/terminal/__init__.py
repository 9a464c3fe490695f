"""Output to the terminal: only changed cells, only printable text."""
