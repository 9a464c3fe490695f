"""Comments in change requests and on live pages: drafts, actions on threads, and rows."""
