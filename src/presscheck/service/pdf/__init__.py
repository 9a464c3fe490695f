"""PDF exports: loading pages, writing Typst markup, typesetting."""
