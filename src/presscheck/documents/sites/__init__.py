"""The checks of a site, and the content that they examine."""
