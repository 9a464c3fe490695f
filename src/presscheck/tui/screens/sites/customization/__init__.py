"""The customization screen of a site."""
