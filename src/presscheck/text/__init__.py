"""Text for the terminal: sanitized, styled, and times in words. Below every other package of content."""
