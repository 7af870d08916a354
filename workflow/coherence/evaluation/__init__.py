"""The table (a row a trajectory) and what is asked of it."""
