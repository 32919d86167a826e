"""Check: does all hold? Tests, rules, planted bugs, sequences at random (make test, lint, lines, mutants; ./cw fuzz).

Stands on run, and on all below it."""
