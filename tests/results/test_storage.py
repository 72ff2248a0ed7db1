"""What a file keeps of a model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import reliabayes as rb
from reliabayes.models.saved_classes import saved_classes
from reliabayes.results.storage import pack_fields, unpack_fields


@dataclass(frozen=True)
class Settings:
    """Fields of every kind that a user's model may have."""

    name: str
    priors: tuple[rb.Normal | rb.Beta, ...]
    weights: tuple[tuple[str, float], ...]
    options: object


def test_fields_of_a_model_come_back_as_they_were() -> None:
    model = Settings("x", (rb.Normal(0, 1), rb.Beta(2, 3)), (("a", 1.5), ("b", 2.0)), {"k": 3})

    assert unpack_fields(pack_fields(model), saved_classes(), trust=True) == model


def test_class_inside_a_function_is_refused() -> None:
    @dataclass(frozen=True)
    class Inner:
        number: int

    with pytest.raises(ValueError, match=r"Inner is defined inside a function"):
        pack_fields(Inner(1))
