"""The screen of how visitors come to a site: redirects, share links, visitor sign-in."""
