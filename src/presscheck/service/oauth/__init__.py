"""Sign-in by browser (OAuth 2.0): device codes, authorization codes, refresh and revocation of tokens."""
