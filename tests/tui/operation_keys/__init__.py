"""The table operation → keys → request: which keys of the app send each operation of the service's document.

Each module of this package but `driver`, `places` and the test has a `FAMILY`. A new one needs no entry anywhere.
"""
