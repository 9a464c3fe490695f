"""The base of full screens, and lists; the modules of `screens` are built from them."""
