"""The configuration of a site as one file in a repository: read, compared with the site, and sent to it."""
