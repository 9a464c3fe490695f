"""The publish screen: the sites of an organization, their checks, and their publishing."""
