"""What a terminal is sent: differences of pictures, and only printable text."""
