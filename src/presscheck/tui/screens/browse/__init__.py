"""The screen that shows spaces and pages."""
