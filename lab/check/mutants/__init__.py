"""Planted bugs, and the tests that must notice them: `make mutants` (docs/testing.md).

kept.py reads the patches of tests/mutants, fresh.py draws new ones by seed, rooms.py says which tests are for
which room, copy.py is the copy of the tree in which all happens, judge.py plants, builds and tests one.
"""
