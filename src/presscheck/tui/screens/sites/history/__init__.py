"""The history of a site: what was published and changed, compared with now, and restored."""
