"""The history of a site: publishes and changes, to compare and restore."""
