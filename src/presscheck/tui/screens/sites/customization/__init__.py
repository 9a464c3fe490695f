"""The screen of the customization of a site."""
