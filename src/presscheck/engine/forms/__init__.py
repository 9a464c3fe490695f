"""Forms for operations: their fields in words, what these refer to, and the way from typed text to a call."""
