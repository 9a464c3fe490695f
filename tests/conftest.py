"""For every test."""

import textual._wait

# After each key the pilot sleeps by this much until the process rests. Fiftieths of a second were two thirds of the
# time of the app's tests; what takes longer than a moment is waited for by name, never by resting.
assert textual._wait.SLEEP_GRANULARITY
textual._wait.SLEEP_GRANULARITY = 1 / 200
