"""The platform's rich-text tree: converted from Markdown and back, with its schema and validation."""
