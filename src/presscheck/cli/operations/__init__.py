"""Commands generated from the declarations of operations."""
