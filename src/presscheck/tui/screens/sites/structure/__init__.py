"""The structure screen of a site: section groups, sections and spaces as a tree."""
