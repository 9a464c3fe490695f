"""Everything about a site but its publication: structure, access, adaptive content, customization, history."""
