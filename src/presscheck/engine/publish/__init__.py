"""Publishing of sites: their contents and structure, the checks before a publish, redirects, audiences and previews."""
