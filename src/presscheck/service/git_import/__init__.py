"""Import of repositories in the platform's Git format."""
