"""Three-way merges of texts, fields, page trees and revisions."""
