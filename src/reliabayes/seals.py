"""Checksums of files: whether they are what was written."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

HEX = 64  # digits of a SHA-256 checksum
DAMAGED = "it was damaged or changed after it was saved"


def checksum(content: bytes | memoryview) -> str:
    """SHA-256 checksum of some content.

    Parameters
    ----------
    content : bytes
        What is in a file.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class Seal:
    """How the checksum of what precedes it ends a file.

    Attributes
    ----------
    before, after : bytes
        What stands before and after the 64 digits.
    """

    before: bytes
    after: bytes = b""

    def sealed(self, content: bytes) -> bytes:
        """The content with its checksum."""
        return content + self.before + checksum(content).encode() + self.after

    def is_on(self, data: bytes) -> bool:
        """Whether a file ends with the checksum of its content.

        Raises
        ------
        ValueError
            It ends with another one.
        """
        ending = re.escape(self.before) + rb"([0-9a-f]{64})" + re.escape(self.after)
        length = len(self.before) + HEX + len(self.after)
        found = re.compile(ending).fullmatch(data, max(0, len(data) - length))
        if found is None:
            return False
        if checksum(memoryview(data)[: found.start()]).encode() != found[1]:
            raise ValueError(f"{DAMAGED} (its checksum differs)")
        return True
