"""Comments in change requests and on live pages: their drafts, what can be done with a thread, and its rows."""
