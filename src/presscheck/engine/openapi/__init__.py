"""OpenAPI specifications: two versions compared, and the versions that were seen on this machine."""
