"""Adaptive content: conditions on the claims of visitors, and the schema of these claims."""
