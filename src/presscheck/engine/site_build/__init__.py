"""Static copies of published sites: every page and file that the service serves, with relative links."""
