"""`presscheck mcp`, `presscheck agent` and `presscheck skill`: the verbs of agents, on the session of a command."""
