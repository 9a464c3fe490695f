"""The first screen without configuration: sign in, the sample workspace, or a documentation folder."""
