"""Edits of a page in a change request: its text, its details, and how they are saved."""
