"""The customization of a site as settings, which are derived from the API model: forms, validation and merges."""
