"""Exported pages as Typst markup."""
