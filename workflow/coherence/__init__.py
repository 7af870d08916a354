"""Strained coherence and error incoherence in coding-agent trajectories."""
