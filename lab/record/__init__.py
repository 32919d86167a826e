"""Record: every operation of the caches with its key, and any table replayed on them (./cw record, replay).

stream.py is the file, record.py fills it from a machine, engine.py compiles replay.c for each choice, replay.py prints
what came of it. Stands on run, and on all below it."""
