"""The encoding of a text, found from its bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

MARKS: Mapping[bytes, str] = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NAMES: Mapping[str, str] = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
    "mac-roman": "Mac Roman",
}
# Letters and marks of German, French, Spanish and Italian; a wrong encoding shows others.
USUAL = frozenset(
    "äöüßÄÖÜéèêëàâçîïôûùœæÉÈÀÇñáíóúÑÁÍÓÚ¿¡ìòå«»„“”€£°§µ²³½•"
    "\u00a0\u2018\u2019\u2013\u2014\u2026\u00d7\u00b7"
)
N_SEEN = 4096  # bytes in which UTF-16 without a mark shows its zeros


def found_encoding(content: bytes) -> str:
    """Return the encoding that the bytes of a text most likely have.

    One of the encodings with a byte per character is always possible. They differ only in which
    letters they show, and never in which texts are equal.

    Parameters
    ----------
    content : bytes
        The text.

    Returns
    -------
    str
        One of `NAMES`.
    """
    for mark, name in MARKS.items():
        if content.startswith(mark):
            return name
    head = content[:N_SEEN]
    zeros = [head[start::2].count(0) for start in (0, 1)]
    if max(zeros) > len(head) / 4 and min(zeros) < len(head) / 20:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    if is_decodable(content, "utf-8"):
        return "utf-8"
    special = bytes(byte for byte in set(content) if byte >= 0x80)
    # Of equals the first, which is how most spreadsheets write CSV.
    possible = [name for name in ("cp1252", "mac-roman") if is_decodable(special, name)]
    if not possible or not any(0x80 <= byte < 0xA0 for byte in special):
        possible.append("latin-1")
    return max(possible, key=lambda name: _usual(content, special, name))


def is_decodable(content: bytes, encoding: str) -> bool:
    """Whether bytes are a text in an encoding.

    Parameters
    ----------
    content : bytes
        The bytes.
    encoding : str
        The encoding.

    Returns
    -------
    bool
    """
    try:
        content.decode(encoding)
    except UnicodeError:
        return False
    return True


def _usual(content: bytes, special: bytes, encoding: str) -> int:
    """How many characters are as texts usually have them: letters in words, marks between words."""
    number = 0
    for byte in special:
        sign = bytes([byte])
        character = sign.decode(encoding)
        in_words = len(re.findall(b"(?<=[A-Za-z])" + re.escape(sign) + b"(?=[A-Za-z])", content))
        others = content.count(sign) - in_words
        is_letter = character.isalpha()
        suits = 2 * in_words + others if is_letter else 2 * others
        number += suits * (character in USUAL)
    return number
