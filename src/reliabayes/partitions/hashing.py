"""A hash of ids by which items are ordered; the same on every machine and for every version."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Hashes = npt.NDArray[np.uint64]

WORD = 8  # bytes that are mixed at once
# SplitMix64 of Steele, Lea and Flood (2014), https://doi.org/10.1145/2660193.2660195
STEP = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def item_hashes(ids: Any) -> Hashes:
    """Return the hash of each id, written as text; so 7 has the hash of ``"7"``.

    Parameters
    ----------
    ids : pyarrow array of int64 or large_string, shape (N,)
        The ids, none of them missing.

    Returns
    -------
    array of uint64, shape (N,)
        Starts with the number of bytes of the text in UTF-8. For each 8 bytes, of which the first
        is the lowest and those beyond the end are 0, adds SplitMix64's constant, takes the
        exclusive or with the bytes, and mixes; an empty text has 8 such bytes, too.
    """
    texts = ids.cast("large_string")
    _, ends, content = texts.buffers()
    offsets = np.frombuffer(ends, "<i8")[texts.offset : texts.offset + len(texts) + 1]
    return _hashes(offsets, content or b"")


def index_hashes(ids: pd.Index[Any]) -> Hashes:
    """Return the same of ids in memory, without pyarrow.

    Parameters
    ----------
    ids : Index, shape (N,)
        The ids.

    Returns
    -------
    array of uint64, shape (N,)
    """
    texts = [str(each).encode() for each in ids]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return _hashes(offsets, b"".join(texts))


def _hashes(offsets: npt.NDArray[np.int64], content: Any) -> Hashes:
    """Hashes (N,) of texts, which begin and end at offsets (N + 1,) of bytes."""
    size = int(offsets[-1]) if len(offsets) > 1 else 0
    padded = np.zeros(size + WORD, np.uint8)
    if size:
        padded[:size] = np.frombuffer(content, np.uint8, size)
    # Words that start at any byte: numpy gathers them, aligned or not.
    words = np.ndarray((size + 1,), "<u8", padded, strides=(1,))
    start, length = offsets[:-1], np.diff(offsets)
    hashes = length.astype(np.uint64)
    rows: Any = slice(None)
    for at in range(0, int(length.max(initial=1)), WORD):
        if at:
            rows = np.flatnonzero(length > at)
        left = np.minimum(length[rows] - at, WORD)
        word = words[start[rows] + at] & _LOWEST[left]
        hashes[rows] = mixed((hashes[rows] + STEP) ^ word)
    return hashes


def mixed(numbers: Hashes) -> Hashes:
    """Return numbers with their bits mixed, as the last step of SplitMix64 does."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * FACTORS[0]
    numbers = (numbers ^ (numbers >> np.uint64(27))) * FACTORS[1]
    return numbers ^ (numbers >> np.uint64(31))


def part_of(hashes: Hashes, n_parts: int) -> npt.NDArray[np.int64]:
    """Return the part of each hash: parts hold ranges of hashes, of equal width and in order."""
    return ((hashes >> np.uint64(32)) * np.uint64(n_parts) >> np.uint64(32)).astype(np.int64)


# Masks of the lowest 0 to 8 bytes.
_LOWEST = np.array([(1 << (8 * n)) - 1 for n in range(WORD + 1)], np.uint64)
