"""The access screen of a site: redirects, share links and visitor sign-in."""
