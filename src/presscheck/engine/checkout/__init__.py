"""A space as a folder: what was checked out, what changed in the folder, pulling and pushing."""
