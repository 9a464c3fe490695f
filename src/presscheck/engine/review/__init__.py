"""The review of one change request: what is known of it, what it changes, and its comment threads."""
