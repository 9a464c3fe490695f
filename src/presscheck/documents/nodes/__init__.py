"""Markdown as a tree of nodes, the other form of a text on the wire, and back."""
