"""Administration: tables, details and forms for the parts of an organization other than its content."""
