"""Commands made from the declarations of operations."""
