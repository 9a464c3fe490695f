"""Permissions: the people and teams of a place, and the places and teams of a person."""
