"""How much of the error of repeated runs is consistent (bias) and how much is scatter (variance)."""
