"""Forms for operations: help texts and references of fields, and the conversion between typed texts and calls."""
