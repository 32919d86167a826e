"""The command line: one module of commands for each package, root.py puts them together.

Modules that a command needs are imported by the command, so that each starts fast. Stands on everything."""
