"""Sweep: kernels x workloads x machines x seeds from one file, each run recorded (./cw sweep, worker).

toml/ finds the file and its tables, experiment.py says what they mean, validate.py asks the checkout about it, plan.py
makes cells of it, runner.py or cluster.py run them, store.py keeps them. Stands on measure and run, and on all below
them."""
