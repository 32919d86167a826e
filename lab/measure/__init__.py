"""Measure: what things cost in instructions (./cw bench, profile, hashcost).

Stands on run, and on all below it."""
