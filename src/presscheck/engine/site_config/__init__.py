"""The configuration of a site as a file in a repository: reading it, comparing it with the site, and pushing it."""
