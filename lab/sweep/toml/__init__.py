"""Experiment files as text and tables: where they lie, what they are like, on which line a fault is."""
