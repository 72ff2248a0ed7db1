"""What results need to know of the model that they come from."""

from __future__ import annotations

from typing import ClassVar, Protocol


class Model(Protocol):
    """A model, as far as its results depend on what kind of model it is.

    Attributes
    ----------
    continuous : bool
        True for models of numbers, whose ratings have densities instead of probabilities.
    conditional : bool
        True for models that condition on part of the ratings instead of predicting them all.
    """

    continuous: ClassVar[bool]
    conditional: ClassVar[bool]
