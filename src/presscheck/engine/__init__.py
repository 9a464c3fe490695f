"""The only mediator: screens ask it, and it answers from the store and then from the client."""
