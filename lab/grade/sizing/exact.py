"""What chance makes of a table, exactly: n objects, each in one of m buckets, all equally likely and independent.

How many objects a bucket has is binomial; hash/report.c prints the same as the kernel's expected histogram, and
docs/kernel/counters.md has the formulas. All in thousandths, as what is handed in gives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import comb

BUCKETS, HIT, MISS, FILLING, BITS = range(5)  # what a question's first word asks; submission.c has the same
WORDS = 1 + 8 + 2 * 3 + 4  # of a question

NAMES = {BUCKETS: "sizing_buckets", HIT: "sizing_hit", MISS: "sizing_miss", FILLING: "sizing_filling"}
DIGITS = Context(prec=60)


@dataclass(frozen=True)
class Asked:
    """A prediction that is asked for, of a table of 2**bits buckets."""

    what: int
    objects: int
    bits: int
    size: int = 0  # of BUCKETS: so many objects in a bucket

    @property
    def question(self) -> tuple[int, ...]:
        return (self.what, self.objects, self.bits, self.size, *[0] * (WORDS - 4))

    @property
    def call(self) -> str:
        """As C has it."""
        size = f", {self.size}" if self.what == BUCKETS else ""
        return f"{NAMES[self.what]}({self.objects}, {self.bits}{size})"

    @property
    def exact(self) -> Fraction:
        """In thousandths."""
        n, m = self.objects, 1 << self.bits
        if self.what == BUCKETS:
            return Fraction(buckets(n, self.bits, self.size)) * 1000
        if (
            self.what == HIT
        ):  # half of the others, on the average, were inserted later, and of these one in m is in the way
            return 1000 + Fraction(1000 * (n - 1), 2 * m)
        if self.what == MISS:
            return Fraction(1000 * n, m)
        return Fraction(1000 * (n - 1), 2 * m)  # FILLING: the i-th miss meets i objects in m buckets, i = 0 to n - 1

    def good(self, answer: int) -> bool:
        """Near enough for arithmetic in whole numbers, too far for another formula."""
        part, least = (100, 20) if self.what == BUCKETS else (1000, 2)
        return abs(answer - self.exact) <= max(self.exact / part, Fraction(least))


def buckets(objects: int, bits: int, size: int) -> Decimal:
    """How many of 2**bits buckets have @size objects, on the average: m C(n, k) (1/m)^k (1 - 1/m)^(n - k)."""
    if size > objects:
        return Decimal(0)
    m = Decimal(1 << bits)
    others = DIGITS.power(DIGITS.divide(m - 1, m), objects - size)
    return DIGITS.multiply(DIGITS.divide(Decimal(comb(objects, size)), DIGITS.power(m, size - 1)), others)
