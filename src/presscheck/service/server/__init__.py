"""The server process: start, supervision, first data, backup, API tokens."""
