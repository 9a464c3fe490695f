"""For every test."""

import os

import textual._wait

pytest_plugins = ("tests.suite_plugin",)

# programs that tests start are compiled once, as they are for their users
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# After each key the pilot sleeps by this much until the process rests. Fiftieths of a second were two thirds of the
# time of the app's tests; what takes longer than a moment is waited for by name, never by resting.
assert textual._wait.SLEEP_GRANULARITY
textual._wait.SLEEP_GRANULARITY = 1 / 200
