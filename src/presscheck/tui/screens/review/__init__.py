"""The review of a change request: the screen and its parts."""
