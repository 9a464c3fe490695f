"""The table of operations and keys: which keys of the app send each operation of the service's document.

Each module of this package except `driver`, `places` and the test has a `FAMILY`. New modules are found automatically.
"""
