"""The hash of ids, against one that takes one id at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from reliabayes.partitions.hashing import item_hashes, mixed, part_of

LAST_64 = (1 << 64) - 1


def test_mixing_is_that_of_splitmix64() -> None:
    # The generator with seed 1234567, whose states are multiples of a constant.
    states = [(1234567 + n * 0x9E3779B97F4A7C15) & LAST_64 for n in (1, 2, 3)]

    found = mixed(np.array(states, np.uint64))

    # https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64
    assert found.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize(
    "ids",
    [
        ["", "a", "item-1", "12345678", "123456789", "x" * 16, "x" * 100, "Käse", "\u4e2d\u6587"],
        ["only one"],
        [""],
        [],
    ],
)
def test_hash_of_texts_is_that_of_their_bytes(ids: list[str]) -> None:
    found = item_hashes(pa.array(ids, pa.large_string()))

    assert found.tolist() == [hash_of(text.encode()) for text in ids]


def test_part_of_an_array_has_the_same_hashes() -> None:
    ids = pa.array(["aa", "b", "cccccccccc", "d", "ee"], pa.large_string())

    assert item_hashes(ids[2:4]).tolist() == item_hashes(ids)[2:4].tolist()


def test_whole_numbers_have_the_hash_of_their_text() -> None:
    numbers = [0, 7, -7, 10**12, 2**63 - 1, -(2**63)]

    found = item_hashes(pa.array(numbers, pa.int64()))

    assert found.tolist() == [hash_of(str(number).encode()) for number in numbers]


@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
def test_parts_are_ranges_of_equal_width(n_parts: int) -> None:
    hashes = item_hashes(pa.array(range(64_000)))

    part = part_of(hashes, n_parts)

    in_order = part[np.argsort(hashes)]
    assert (np.diff(in_order) >= 0).all()
    # Counts are binomial; 5 standard deviations.
    mean = 64_000 / n_parts
    assert abs(np.bincount(part, minlength=n_parts) - mean).max() <= 5 * mean**0.5


def hash_of(text: bytes) -> int:
    """The hash in Python's own numbers."""
    number = len(text)
    for start in range(0, max(1, len(text)), 8):
        number = (number + 0x9E3779B97F4A7C15) & LAST_64
        number ^= int.from_bytes(text[start : start + 8], "little")
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & LAST_64
        number = (number ^ (number >> 27)) * 0x94D049BB133111EB & LAST_64
        number ^= number >> 31
    return number
