"""What every screen has, and its lists; the rooms of `screens` are built from these."""
