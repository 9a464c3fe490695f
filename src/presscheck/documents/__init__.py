"""Pure functions on content: blocks, Markdown, lines for a terminal, differences, links."""
