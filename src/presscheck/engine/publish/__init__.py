"""What a site contains, and the checks before it is published."""
