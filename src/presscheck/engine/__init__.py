"""The sync engine between the screens and the service.

It contains cached reads, subscriptions, the write queue, the inbox, reviews and search.
"""
