"""Text for the terminal: sanitizing, styled text, relative times. It knows nothing of documents."""
