"""The screens of an integration: description, installations, spaces and sites, events and rendered components."""
