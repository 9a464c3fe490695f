"""The sync engine between screens and the service: cached reads, subscriptions, the write queue, inbox, review,
search."""
