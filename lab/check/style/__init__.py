"""make lint, the C part: the rules of docs/kernel/architecture.md and CONTRIBUTING.md that a program can check.

text.py looks at lines, code.py at tokens, locks.py at comments about locks; known.toml is the list of what breaks a rule
and was there before it: a number for each rule and file that may only become less (known.py). Layout beyond that is what
`make format` makes of it: versions of clang-format differ too much for a verdict.

    .venv/bin/python3 -m lab.check.style             what is new; nothing where all is well
    .venv/bin/python3 -m lab.check.style --all       what is known, too, by rule, for who mends it
    .venv/bin/python3 -m lab.check.style --settle    what has been mended leaves known.toml; files may have moved
"""
