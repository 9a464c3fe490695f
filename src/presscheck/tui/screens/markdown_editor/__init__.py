"""The built-in editor of pages: Markdown with syntax colors, completion and a preview."""
