"""Is it a hash function at all: does it build alone, stay in the table, answer always the same, and do only what C defines?"""

from __future__ import annotations

import numpy as np

from lab.course.labs import Part
from lab.grade import oracle
from lab.grade.oracle import Refused
from lab.grade.work import Judged, Work, failed, passed

MOST_WORDS = 1500  # of what the compiler said


def builds(work: Work, part: Part) -> Judged:
    """Compiled with the kernel's flags, with nothing but the kernel's headers, it is a function and no more."""
    outcome = oracle.compile_all(work.folder, oracle.FUNCTIONS[work.lab.cache])
    if not outcome.good:
        oracle.check_compiler(oracle.FUNCTIONS[work.lab.cache])  # whose fault is it?
        work.compiled = (
            "it does not compile" if outcome.kind == "exit" else f"it does not compile: {outcome.why(oracle.COMPILE)}"
        )
        words = outcome.said.replace("/grade/submission.h", work.lab.hand_in).replace("submission.h", work.lab.hand_in)
        return failed(f"{work.compiled}.", words[:MOST_WORDS])
    work.compiled = ""
    faults = oracle.not_alone(work.folder)
    if faults:
        return failed(*faults, f"Expected: {work.lab.cache}_hash() as `static inline`, computing from its arguments alone (hash/README.md).")  # fmt: skip
    return passed()


def in_range(work: Work, part: Part) -> Judged:
    """For tables of all sizes, keys of all kinds."""
    questions = work.questions("range", part.options["bits"])
    try:
        buckets = work.ask(questions)
    except Refused as error:
        return failed(str(error))
    wrong = oracle.outside(questions, buckets)
    if wrong is None:
        return passed()
    bits = questions[wrong][2]
    work.not_a_function = work.not_a_function or "it gives buckets that the table has not"
    sizes = sorted(
        {question[2] for question, bucket in zip(questions, buckets, strict=True) if int(bucket) >> question[2]}
    )
    return failed(
        f"With bits = {bits} it gives bucket {int(buckets[wrong]):,}, and there are only {1 << bits:,} (seen at bits = {', '.join(map(str, sizes))}).",
        "Expected: a result below 1 << bits for each key: `& hash_mask(bits)`, or the upper bits of a product.",
    )


def is_function(work: Work, part: Part) -> Judged:
    """In other processes, in other orders, among other keys: the answer is the same."""
    try:
        work.ask_twice(work.questions("function", part.options["bits"]), "function")
    except Refused as error:
        work.not_a_function = work.not_a_function or "it is not a function of the key"
        return failed(
            f"{error}.", "Expected: the bucket depends on the key and on bits, and on nothing else: what is inserted must be found again."
        )  # fmt: skip
    return passed()


def defined(work: Work, part: Part) -> Judged:
    """With the sanitizer, and without optimization, it answers as it does in the kernel."""
    questions = work.questions("defined", part.options["bits"])
    try:
        usual = work.ask(questions)
        checked = work.ask(questions, "-checked")
        plain = work.ask(questions, "-plain")
    except Refused as error:
        return failed(
            f"{error}.",
            "Expected: shifts by less than the word's width, indexes inside their arrays, for bits from 4 to 18.",
        )
    if np.any(usual != checked) or np.any(usual != plain):
        return failed("Compiled without optimization it gives other buckets: what it does the language leaves open.")
    return passed()
