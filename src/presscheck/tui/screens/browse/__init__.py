"""The screen of spaces and pages."""
