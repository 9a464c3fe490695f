"""Things on a screen: given data, they post facts; they never see the engine."""
