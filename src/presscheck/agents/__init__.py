"""The doors for agents: the type of a verb, and the server of the Model Context Protocol that offers verbs."""
