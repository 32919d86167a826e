"""python3 -m lab: what ./cw runs."""

from lab.cli import main

main()
