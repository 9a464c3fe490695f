"""A repository in the platform's Git format, read into pages and files."""
