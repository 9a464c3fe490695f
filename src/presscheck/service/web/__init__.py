"""Published sites as web pages, for readers who have no account: made when they are asked for, without any script."""
