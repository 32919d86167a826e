#!/bin/sh
# cw - the command-line tool. Makes the Python environment on the first call, then hands over to lab/cli/root.py.
top=$(dirname -- "$(readlink -f -- "$0")")
if [ ! -e "$top/.venv/stamps/python" ]; then
	make -s -C "$top" setup >&2 || exit 125
fi
PYTHONPATH=$top exec "$top/.venv/bin/python3" -m lab "$@"
