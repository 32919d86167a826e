"""./cw run --cache-sim SPEC: what a processor's memory caches would make of the job's accesses.

cachesim.c, a plugin of QEMU, has the caches; specification.py has the processors that they can be, simulation.py gives
them to a machine, counts.py says what they counted. docs/lab/simulated/cache-simulation.md says what is modelled.
"""
