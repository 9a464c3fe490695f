"""The parts of a page besides its text: link targets, files, pictures, reusable content."""
