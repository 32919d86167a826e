"""Compare: one program on two kernels, or on Chainwalk and Linux (./cw compare, diff, run --strace).

Stands on run, and on all below it."""
