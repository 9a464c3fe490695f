"""presscheck: a workspace in the terminal for a documentation platform."""

__version__ = "0.2.0"
