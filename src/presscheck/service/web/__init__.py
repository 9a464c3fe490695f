"""Published sites as web pages for readers without an account. Only integrations add scripts to them."""
