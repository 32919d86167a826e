"""Sweeps: an experiment file's kernels × workloads × machines × seeds, run and kept in one file of results."""
