"""The screen of the structure of a site: section groups, sections and spaces as a tree."""
