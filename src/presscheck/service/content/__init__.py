"""Pages and files: revisions, edits, formats, search."""
