"""Build: from sources and choices to a kernel and its programs (make kernel, make user, make setup).

make/ has the fragments of the one Makefile, configure.py turns Kconfig into headers, kernel.py calls make for the rest
of the lab, setup.sh and setup.py bring what a machine lacks. Stands on base."""
