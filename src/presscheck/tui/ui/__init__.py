"""Building blocks of full screens: the base class, lists, tabs, search and questions."""
