"""What you see: the only room that knows Textual."""
