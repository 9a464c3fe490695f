"""Profiles, settings, credentials and saved views, and how they are checked."""
