"""The review of one change request: model, changes, threads, merge readiness, forecast, merge train, history."""
