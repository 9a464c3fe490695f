"""The first screen without configuration: sign in, open the sample workspace, or open a documentation folder."""
