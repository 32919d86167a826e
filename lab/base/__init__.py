"""What all of the lab stands on: where things are, the rooms of the kernel's house, the tables of calls and hash functions.

Stands on nothing of the lab."""
