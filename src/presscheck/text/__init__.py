"""Text for the terminal: sanitizing, styled text, relative times. Independent of documents."""
