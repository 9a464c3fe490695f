"""Sites: structure, URLs, customization and tokens."""
