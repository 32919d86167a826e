"""Report: what sweeps measured beside what the papers found (./cw report, reproduce).

collect.py puts results together, numbers.py judges them, words.py names them, summary.py says what comes first; text.py, export.py and web/ are the forms.
Stands on sweep, whose results it reads."""
