"""What a text refers to beyond its words: links, files, pictures, reusable content."""
