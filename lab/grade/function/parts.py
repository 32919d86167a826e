"""Is it a hash function at all: does it build alone, stay in the table, answer always the same, and do only what C defines?"""

from __future__ import annotations

import numpy as np

from lab.course.labs import Part
from lab.grade.function import oracle
from lab.grade.function.asked import Asked, Oracle
from lab.grade.work import Judged, Refused, Work, failed, passed

MOST_WORDS = 1500  # of what the compiler said


def builds(work: Work, part: Part) -> Judged:
    """Compiled with the kernel's flags, with nothing but the kernel's headers, it is a function and no more."""
    asked = work.of(Asked)
    return built(asked, f"{asked.cache}_hash() as `static inline`, computing from its arguments alone (hash/README.md)")


def built(asked: Oracle, expected: str) -> Judged:
    """Of any lab whose submission is asked."""
    work = asked.work
    oracle.prepare(work.folder, work.text, asked.interface)
    outcome = oracle.compile_all(work.folder, asked.interface)
    if not outcome.good:
        oracle.check_compiler(asked.interface)  # whose fault is it?
        asked.compiled = (
            "it does not compile"
            if outcome.kind == "exit"
            else f"it does not compile: {outcome.why(oracle.COMPILE, False)}"
        )
        words = outcome.said.replace("/grade/submission.h", work.called).replace("submission.h", work.called)
        work.not_booted(asked.compiled)
        return failed(f"{asked.compiled}.", words[:MOST_WORDS])
    asked.compiled = ""
    faults = oracle.not_alone(work.folder)
    return failed(*faults, f"Expected: {expected}.") if faults else passed()


def in_range(work: Work, part: Part) -> Judged:
    """For tables of all sizes, keys of all kinds."""
    asked = work.of(Asked)
    questions = asked.questions("range", part.options["bits"])
    try:
        buckets = asked.ask(questions)
    except Refused as error:
        return failed(str(error))
    if oracle.outside(questions, buckets) is None:
        return passed()
    work.not_booted("it gives buckets that the table has not")
    expected = "Expected: a result below 1 << bits for each key: `& hash_mask(bits)`, or the upper bits of a product."
    return failed(*_outside(asked, part), expected)


def _outside(asked: Asked, part: Part) -> list[str]:
    """A bucket that is none, and in which sizes: of keys that anybody can make."""
    said = ["It gives buckets that the table has not."] if asked.work.seeds.hidden else []
    questions = asked.questions("range", part.options["bits"], asked.work.open_seeds)
    try:
        buckets = asked.ask_openly(questions)
    except Refused:
        return said
    wrong = oracle.outside(questions, buckets)
    if wrong is None:
        return said
    bits = questions[wrong][2]
    sizes = sorted(
        {question[2] for question, bucket in zip(questions, buckets, strict=True) if int(bucket) >> question[2]}
    )
    return [
        f"With bits = {bits} it gives bucket {int(buckets[wrong]):,}, and there are only {1 << bits:,} (seen at bits = {', '.join(map(str, sizes))})."
    ]


def is_function(work: Work, part: Part) -> Judged:
    """In other processes, in other orders, among other keys: the answer is the same."""
    try:
        asked = work.of(Asked)
        asked.ask_twice(asked.questions("function", part.options["bits"]), "function")
    except Refused as error:
        work.not_booted("it is not a function of the key")
        return failed(
            f"{error}.", "Expected: the bucket depends on the key and on bits, and on nothing else: what is inserted must be found again."
        )  # fmt: skip
    return passed()


def defined(work: Work, part: Part) -> Judged:
    """With the sanitizer, and without optimization, it answers as it does in the kernel. To questions that are no secret, since the sanitizer's words
    can be the submission's own."""
    asked = work.of(Asked)
    questions = asked.questions("defined", part.options["bits"], work.open_seeds)
    try:
        usual = asked.ask_openly(questions)
        checked = asked.ask_openly(questions, "-checked")
        plain = asked.ask_openly(questions, "-plain")
    except Refused as error:
        return failed(
            f"{error}.",
            "Expected: shifts by less than the word's width, indexes inside their arrays, for bits from 4 to 18.",
        )
    if np.any(usual != checked) or np.any(usual != plain):
        return failed("Compiled without optimization it gives other buckets: what it does the language leaves open.")
    return passed()
