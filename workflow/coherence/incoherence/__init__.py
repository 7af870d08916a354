"""Error incoherence: how much of repeated attempts' error is bias and how much is variance."""
