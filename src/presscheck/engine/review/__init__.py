"""Reviews: model, threads, changes, merge readiness, forecast, train, history."""
