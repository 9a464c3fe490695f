"""The customization of a site as settings: read from its declaration, checked, edited, compared and saved."""
