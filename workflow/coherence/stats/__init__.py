"""Counts and arrays in, named results out; nothing here knows what a trajectory is."""
