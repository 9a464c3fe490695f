"""Sites: structure, addresses, customization, visitors."""
