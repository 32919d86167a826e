"""python3 -m lab: what ./cw runs."""

from lab.cli.root import main

main()
