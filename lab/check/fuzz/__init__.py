"""./cw fuzz: sequences of file calls at random, on Linux and on Chainwalk; what differs is shrunk and kept.

tests/fuzz/filefuzz.c makes and performs the sequences; docs/testing.md tells how it all works. campaign.py gives them
out to machines in batches (both.py), compared by the checksum of their traces, and those that differ are run again with
their traces (differences.py). Of each kind of difference one sequence is shrunk (shrink.py): every round tries all ways
of leaving out a piece of it, for all kinds in one boot, and keeps the shortest that still differs in the same way.
permissions.py and calls.py are two more: a table of who may do what, and wild system calls.
"""
