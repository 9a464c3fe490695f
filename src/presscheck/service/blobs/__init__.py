"""Uploaded files: where they are stored, and how a transaction stores and reads them."""
