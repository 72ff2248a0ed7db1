"""Parameters that a user gives by name: checked, and in the order of the ids of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.families.simulation import require_known
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem
from reliabayes.results.posterior import with_ids
from reliabayes.wording import joined

ROUNDING = 1e-6  # of sums and lengths that must be 1
RANGES = {
    "real": "finite",
    "positive": "finite and not below 0",
    "unit": "between 0 and 1",
    "simplex": "probabilities that sum to 1 in the last dimension",
    "correlation": "a Cholesky factor of a correlation matrix: lower triangular, rows of length 1",
}


def given_point(
    given: Mapping[Any, Any], parameters: Sequence[Parameter], problem: Problem, model: object
) -> dict[str, Array]:
    """A value of each parameter, of those given by name.

    Parameters
    ----------
    given : mapping of str to float, array or DataArray, or Dataset
        Values by name. Those with ids are taken by ids, others by position.
    parameters : sequence of Parameter
        What the model needs.
    problem : Problem
        Has the ids.
    model : object
        Whose parameters these are.

    Returns
    -------
    dict of str to array

    Raises
    ------
    ValueError
        A parameter is missing, unknown, or out of its range, or has another shape.
    """
    known = {parameter.name: parameter for parameter in parameters}
    require_known(map(str, given), known, model)
    empty = {name: np.empty(_shape(each, problem)) for name, each in known.items()}
    values = {name: value for name, value in empty.items() if not value.size} | dict(given)
    if missing := [_named(each) for name, each in known.items() if name not in values]:
        raise ValueError(
            f"parameters: {type(model).__name__} also needs {joined(missing)}. Pass all of them, "
            "such as the parameters of an estimate."
        )
    return {name: _checked(values[name], each, problem) for name, each in known.items()}


def labelled_point(
    point: Mapping[str, Array], parameters: Sequence[Parameter], problem: Problem
) -> xr.Dataset:
    """A point with the user's ids, parameter by parameter."""
    found = {each.name: (each.dims, np.asarray(point[each.name])) for each in parameters}
    return with_ids(xr.Dataset({name: x for name, x in found.items() if x[1].size}), problem)


def _checked(value: Any, parameter: Parameter, problem: Problem) -> Array:
    """The value of a parameter in the order of the problem, if it is one."""
    shape = _shape(parameter, problem)
    if isinstance(value, xr.DataArray):
        value = _by_ids(value, parameter, problem)
    try:
        array = np.array(value, float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"parameters: {parameter.name} must be numbers of shape {shape}; found {value!r}."
        ) from error
    if array.ndim == 0 and parameter.support in ("real", "positive", "unit"):
        array = np.full(shape, array)
    if _without_ones(array.shape) != _without_ones(shape):
        raise ValueError(
            f"parameters: {_named(parameter)}, must have shape {shape}; found {array.shape}."
        )
    array = array.reshape(shape)
    if not _is_allowed(array, parameter):
        shown = np.array2string(array, threshold=20, formatter={"float_kind": "{:.4g}".format})
        raise ValueError(
            f"parameters: {parameter.name} must be {RANGES[parameter.support]}; found {shown}."
        )
    return array


def _shape(parameter: Parameter, problem: Problem) -> tuple[int, ...]:
    dims = parameter.dims
    is_square = parameter.support == "correlation"
    return tuple(problem.size(dims[0] if is_square else dim) for dim in dims)


def _by_ids(value: xr.DataArray, parameter: Parameter, problem: Problem) -> Array:
    """Values in the order of the problem's ids, along each dimension that has ids."""
    dims = [dim for dim in parameter.dims if dim in value.dims]
    if set(dims) != set(value.dims):
        raise ValueError(
            f"parameters: {parameter.name} must have the dimensions {parameter.dims}; found "
            f"{value.dims}."
        )
    value = value.transpose(*dims)
    for dim in dims:
        if dim not in value.coords or dim not in problem.coords:
            continue
        ids = problem.coords[dim]
        at = value.indexes[dim].get_indexer(ids)
        if (at < 0).any():
            unknown = joined([repr(each) for each in ids[at < 0][:5]])
            raise ValueError(
                f"parameters: {parameter.name} must have a value for each {dim} of the ratings; "
                f"found none for {unknown}."
            )
        value = value.isel({dim: at})
    return np.asarray(value.values)


def _named(parameter: Parameter) -> str:
    by = f" by {' and '.join(parameter.dims)}" if parameter.dims else ""
    return f"{parameter.name}{by}"


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


def _is_allowed(value: Array, parameter: Parameter) -> bool:
    """Whether a value is in its range, or on its boundary."""
    if not np.isfinite(value).all():
        return False
    if parameter.support == "positive":
        return bool((value >= 0).all())
    if parameter.support == "simplex":
        sums = value.sum(axis=-1)
        return parameter.holds(value) and bool((np.abs(sums - 1) < ROUNDING).all())
    if parameter.support == "correlation":
        lengths = np.square(value).sum(axis=-1)
        is_lower = not np.triu(value, 1).any() and bool((np.diagonal(value) >= 0).all())
        return is_lower and bool((np.abs(lengths - 1) < ROUNDING).all())
    return parameter.holds(value)
