"""Error incoherence: repeated outcomes, how much of their error is consistent and how much is scatter."""
