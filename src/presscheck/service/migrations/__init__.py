"""How a database of an earlier version becomes one of this: one module a step, forwards only, each in a transaction."""
