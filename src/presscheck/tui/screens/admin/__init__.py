"""Administration: everything that an organization has apart from its content, as tables, details and forms."""
