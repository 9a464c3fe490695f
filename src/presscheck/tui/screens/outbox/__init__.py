"""The outbox screen, and the drafts in it."""
