"""The built-in editor of pages: Markdown with colours, completion and a preview beside it."""
