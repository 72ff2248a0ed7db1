"""Arguments of a fit, and which ratings a model takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, get_args

from reliabayes.choices import Sampler
from reliabayes.inference import stan
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.settings import Settings, whole_number
from reliabayes.sampling.loop import Aim
from reliabayes.sampling.plan import SampledModel
from reliabayes.wording import joined

# Models that take ratings in parts, which lie above this module.
OF_PARTS = ("DawidSkene", "GStudy", "GaussianICC", "GaussianXCC", "MACE", "RaterTAP", "TAP")
LEAST_ESS = 4  # below which it is no estimate


def check_arguments(
    model: SampledModel,
    ratings: object,
    warm_start: object,
    parallel_chains: int | None,
    timeout: float | None,
    sampler: str,
) -> None:
    """Refuse arguments of a fit that mean nothing, and models that cannot be fitted here."""
    if not model.samples_in_numpy:
        stan.require_computer(f"The sampler of {type(model).__name__}")
    check_kind(model, ratings)
    if not isinstance(warm_start, bool) and not hasattr(warm_start, "create_inits"):
        raise TypeError(f"warm_start must be True, False or a fit, not {warm_start!r}.")
    if parallel_chains is not None:
        whole_number("parallel_chains", parallel_chains, least=1)
    if sampler not in get_args(Sampler):
        raise ValueError(
            f"sampler must be 'auto', 'nuts', 'hmc', 'gibbs' or 'independence', not {sampler!r}."
        )
    if timeout is not None and not _is_positive(timeout):
        raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}.")


def check_kind(model: SampledModel, ratings: object) -> None:
    """Refuse what are no ratings, and ratings in parts where a model needs them in memory."""
    if isinstance(ratings, RatingsDataset) and not model.takes_parts:
        raise TypeError(
            f"{type(model).__name__} needs all ratings in memory, and found a RatingsDataset. "
            f"Models of ratings in parts are {joined(OF_PARTS)}."
        )
    if not isinstance(ratings, (Ratings, RatingsDataset)):
        raise TypeError(
            f"ratings must be Ratings, not {type(ratings).__name__}. Make them with "
            "Ratings.from_frame(table, item=..., rater=..., rating=...)."
        )


def _is_positive(number: object) -> bool:
    if not isinstance(number, Real) or isinstance(number, bool):
        return False
    try:
        return 0 < float(number) < math.inf
    except OverflowError:  # an integer beyond all floats
        return False


def checked_aim(
    model: Any,
    ess: float | None,
    mcse: Mapping[str, float] | None,
    settings: Settings,
    *,
    fixed: bool,
) -> Aim:
    """The precision that is asked for.

    Raises
    ------
    ValueError
        It is no precision, names a quantity that the model does not report, or cannot be had from
        the number of draws that is ``fixed``.
    """
    if ess is not None and not (_is_positive(ess) and ess >= LEAST_ESS):
        raise ValueError(f"ess must be a finite number from {LEAST_ESS} on, not {ess!r}.")
    total = settings.chains * settings.draws
    if fixed and ess is not None and ess > total:
        raise ValueError(
            f"an ESS of {ess:g} cannot come from {settings.chains} chains of {settings.draws:,} "
            "draws. Leave draws out, or lower ess."
        )
    if mcse is not None and not isinstance(mcse, Mapping):
        raise ValueError(f"mcse must name quantities, as in {{'icc': 0.005}}, not {mcse!r}.")
    for name, error in (mcse or {}).items():
        if name not in model.reports:
            raise ValueError(
                f"mcse: {type(model).__name__} reports no {name!r}. Choose from "
                f"{', '.join(model.reports)}."
            )
        if not _is_positive(error):
            raise ValueError(f"mcse of {name!r} must be a finite number above 0, not {error!r}.")
    return Aim(ess or 0.0, dict(mcse or {}), keeps=fixed)
