"""Pure functions on content: Markdown, node trees, terminal lines, diffs, merges, page trees and the Git format."""
