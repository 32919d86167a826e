"""Experiments with made-up results for the tests of reports; the numbers are sample_results.py's."""

from __future__ import annotations

from pathlib import Path

from lab.report.collect import Section, collect
from lab.report.sensitivity import sensitivities
from lab.sweep.experiment import Experiment, parse
from lab.sweep.store import Store
from tests.lab.report import sample_results

HOSTILE = "<script>alert(1)</script>[red]&\\\"'=1+1"

# Throughputs are 1000, 1020, 1040.4 and the seed on top; steps are 16, 8 and 4, whatever the seed.
TEXT = """
name = "sample"
title = "A sample of a table"
paper = "Nobody 1999, table 1"
reference = "plain"
seeds = [1, 2, 3, 4, 5]
keep = "middle"
notes = "These results are made up."
whole = true

[[kernel]]
name = "plain"
defconfig = "lever-reference"
paper = { throughput = 4282.8, s = 29.96, steps = 2.155, elapsed = "12 min 57 sec" }

[[kernel]]
name = "twice"
defconfig = "lever-a"
paper = { throughput = 4380.8, s = 12.09, steps = 0.242, elapsed = "12 min 50 sec", n = 7 }

[[kernel]]
name = "four times"
defconfig = "lever-b"
paper = { throughput = 4290.0, s = 21.90 }

[[workload]]
name = "16 scripts"
run = ["workload", "sdm", "--scripts", "16"]

[[measure]]
name = "throughput"
unit = "scripts/hour"
better = "higher"
paper = "throughput"
from = "metric:scripts_per_hour"

[[measure]]
name = "steps"
better = "lower"
paper = "steps"
from = "stats:buffer.steps_per_lookup"

[[histogram]]
kernel = "plain"
cache = "buffer"
title = "A full cache"
paper = { objects = 37256, largest = 116, buckets = [12047, 1037, 381, 295, 325, 399, 188, 303, 160, 169, 224, 64, 49, 15, 3, 4, 721] }

[[expect]]
text = "plain takes twice the steps"
measure = "steps"
more = "plain"
than = "twice"
at_least = 2.0

[[expect]]
text = "plain takes five times the steps"
measure = "steps"
more = "plain"
than = "four times"
at_least = 5.0
conclusion = "Four times is what was made up."

[[expect]]
text = "twice is faster by the factor 1.0199"
measure = "throughput"
more = "twice"
than = "plain"
at_least = 1.0199401794616152
"""

# Few charts, for tests that draw for themselves.
SMALL = """
name = "sample"
title = "A small sample"
reference = "plain"
seeds = [1, 2]

[[kernel]]
name = "plain"
defconfig = "lever-reference"

[[kernel]]
name = "twice"
defconfig = "lever-a"

[[workload]]
name = "16 scripts"
run = ["workload", "sdm"]

[[measure]]
name = "steps"
from = "stats:buffer.steps_per_lookup"
"""

CURVE = """
name = "curve"
title = "Operations a second against threads"
reference = "A"
seeds = [1, 2, 3]

[[kernel]]
name = "A"
defconfig = "santos"
paper = { "1 thread" = { ops = 4341.93 }, "2 threads" = { ops = 8242.2 }, "16 threads" = { ops = 23056.21 } }

[[kernel]]
name = "B"
defconfig = "santos"
paper = { "1 thread" = { ops = 4401.95 }, "2 threads" = { ops = 8165.12 }, "16 threads" = { ops = 24282.80 } }

[[workload]]
name = "sdet"
run = ["workload", "sdet"]
cases = ["1 thread", "2 threads", "16 threads"]

[[measure]]
name = "throughput"
unit = "operations/s"
better = "higher"
paper = "ops"
from = "metric:ops_per_second"

[[measure]]
name = "time"
from = "run:virtual_ns"
"""


def experiment(text: str = TEXT, name: str = "sample") -> Experiment:
    return parse(text, Path(f"{name}.toml"))


def section(path: Path, text: str = TEXT, name: str = "sample", change=None, **fill) -> Section:
    """The report's section of @text's experiment with made-up results; @change may touch the store."""
    wanted = experiment(text, name)
    with Store(path) as store:
        sample_results.fill(store, wanted, **fill)
        if change:
            change(store)
        found = collect(store, wanted, fill.get("full", False))
    assert found is not None
    found.sensitivities = sensitivities(found)
    return found
