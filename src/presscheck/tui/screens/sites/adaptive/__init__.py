"""The screens of adaptive content: visitor schema, conditions, audiences, and the site as an audience sees it."""
