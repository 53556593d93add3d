"""Make uniform numbers whose bits are read when they are needed, so that a number is the same real number at every
precision.

A uniform number is an infinite sequence of fair bits. The bits of a number that have been read are a pair (integer v,
number of bits b), and the number lies in [v/2^b, (v + 1)/2^b]. If the interval of a number is too wide for a decision,
more bits of the same number are read; the earlier bits never change. If a new number were drawn instead, the law would
change: numbers near the threshold of a decision would be replaced more often than others.

A computation that is repeated at a higher precision therefore reads the same numbers again, with more bits. The method
`Uniforms.rewind` returns to the first number. The k-th number that a repetition reads is the k-th number of the earlier
run. The reason is that a run continues only after decisions that are certain, and such a decision has the same outcome
at every precision.
"""

import hashlib
import secrets
from typing import Protocol

from flint import arb, ctx


class Source(Protocol):
    """A source of fair bits, which has an infinite sequence of bits for every index."""

    def bits(self, index: int, start: int, count: int) -> int:
        """Return the bits start, …, start + count − 1 of the sequence with the given index, as an integer.

        Callers request every bit once, and they request the bits of one sequence in order.
        """


class OperatingSystem:
    """A source of bits from the operating system's cryptographic random number generator."""

    def bits(self, index: int, start: int, count: int) -> int:
        """Return `count` fresh bits; `index` has no effect."""
        return secrets.randbits(count)


class Seeded:
    """A source of bits that a seed determines, by SHAKE-256 of seed and index. A seeded source is for tests only,
    because the seed reveals all bits.
    """

    def __init__(self, seed: int | str) -> None:
        self.seed = seed

    def bits(self, index: int, start: int, count: int) -> int:
        """Return the bits at the given position of the stream; they do not depend on earlier reads."""
        length = start + count
        stream = hashlib.shake_256(f"{self.seed}/{index}".encode()).digest((length + 7) // 8)
        return (int.from_bytes(stream) >> (-length % 8)) & ((1 << count) - 1)


class Uniforms:
    """The uniform numbers of one release, in the order in which they are read.

    The attribute `extensions` counts how often more bits were read of a number that had been read before.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.read: list[tuple[int, int]] = []  # for each number, the pair (v, b) of the bits read so far
        self.position = 0
        self.extensions = 0

    def rewind(self) -> None:
        """Go back to the first number, so that the next reads repeat the numbers from the start."""
        self.position = 0

    def _next(self, wanted: int) -> tuple[int, int]:
        """Return the next number, with at least `wanted` bits."""
        if self.position == len(self.read):
            self.read.append((0, 0))
        v, b = self.read[self.position]
        if b < wanted:
            self.extensions += b > 0
            v, b = (v << (wanted - b)) | self.source.bits(self.position, b, wanted - b), wanted
            self.read[self.position] = v, b
        self.position += 1
        return v, b

    def uniform(self) -> arb:
        """Return the next uniform number in [0, 1], as a ball of the present precision."""
        v, b = self._next(ctx.prec)
        return arb((2 * v + 1, -b - 1), (1, -b - 1))

    def coin(self) -> bool:
        """Return the first bit of the next uniform number."""
        v, b = self._next(1)
        return bool(v >> (b - 1))
