"""Prose checks: other programs that check the text of pages."""
