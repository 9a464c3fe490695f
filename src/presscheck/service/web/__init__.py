"""Published sites as web pages for readers without an account: rendered on request, without scripts."""
