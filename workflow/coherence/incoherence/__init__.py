"""Error incoherence of repeated attempts: how much of the error is scatter; arrays in, named results out."""
