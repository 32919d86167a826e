"""make gdb: the debugger at a machine (debugger.py), and the commands that gdb then has (chainwalk.py, which runs in gdb)."""
