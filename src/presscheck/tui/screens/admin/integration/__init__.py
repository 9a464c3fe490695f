"""One integration: what it is and may do, its installations with their spaces and sites, its events, its components."""
