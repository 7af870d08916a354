"""Figures of what the evaluation found, as PNG, PDF and SVG."""
