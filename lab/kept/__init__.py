"""results/: the full size, run once and kept with the source.

form.py writes a cell as lines of text and reads it again; files.py has a file for each experiment; keep.py puts into
them what sweeps have recorded; check.py runs cells again and compares; page.py makes docs/results.md of them.
"""
