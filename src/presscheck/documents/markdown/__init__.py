"""Markdown: blocks, tokens, inline runs, links, plain text and search terms."""
