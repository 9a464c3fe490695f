"""Pages of published sites as HTML."""
