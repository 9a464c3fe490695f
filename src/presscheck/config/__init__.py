"""Profiles, settings, tokens and saved views, with their validation."""
