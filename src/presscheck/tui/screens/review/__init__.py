"""The review of one change request: the screen and its parts."""
