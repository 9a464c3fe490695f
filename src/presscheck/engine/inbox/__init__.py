"""The inbox: views, query language, triage, events, activity poller."""
