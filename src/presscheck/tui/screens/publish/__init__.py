"""The screen of sites."""
