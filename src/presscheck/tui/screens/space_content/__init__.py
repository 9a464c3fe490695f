"""The screen with the links, files and reusable content of a space."""
