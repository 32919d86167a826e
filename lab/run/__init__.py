"""Run: one machine of QEMU, what it is told, what it said, and how it ended (./cw run, shell, list; make run, make gdb).

options.py says what can be asked for, machine.py boots it and judges its end, console.py watches it meanwhile,
control.py reads its records, result.py puts all in a file. qemu/ is what QEMU needs, cachesim/ simulates a processor's
memory caches, gdb/ is the debugger's side. Stands on base, build and guest."""
