"""How it is said: the only room that knows httpx."""
