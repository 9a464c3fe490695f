"""The screen of the adaptive content of a site."""
