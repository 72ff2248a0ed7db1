"""Fits on disk: netCDF groups, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.files import replacing
from reliabayes.ratings import Ratings

if TYPE_CHECKING:
    from reliabayes.models.bases.rating_model import RatingModel

FORMAT = 1
ENGINE: Literal["h5netcdf"] = "h5netcdf"


def write(
    path: str | os.PathLike[str], groups: Mapping[str, xr.Dataset], about: Mapping[str, Any]
) -> None:
    """Write groups and attributes."""
    tree = xr.DataTree.from_dict({name: _with_plain_ids(group) for name, group in groups.items()})
    tree.attrs.update(about, reliabayes_format=FORMAT)
    with replacing(path) as partial:
        tree.to_netcdf(partial, engine=ENGINE)


@contextmanager
def read(
    path: str | os.PathLike[str],
) -> Iterator[tuple[dict[str, xr.Dataset], dict[str, Any]]]:
    """Groups and attributes of a file that `write` made; what fails in their use is its fault."""
    if not Path(path).exists():
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r}.")
    try:
        with xr.open_datatree(path, engine=ENGINE) as tree:
            found = tree.attrs.get("reliabayes_format", "none")
            if found != FORMAT:
                raise ValueError(f"its format must be {FORMAT}, and it is {found}")
            groups = {name: group.to_dataset().load() for name, group in tree.children.items()}
            about = {str(key): value for key, value in tree.attrs.items()}
        yield groups, about
    except Exception as error:  # whatever a damaged file makes the readers beneath us raise
        raise ValueError(
            f"{os.fspath(path)!r} is not a readable fit of this version of reliabayes: {error}. "
            "Save the fit anew with Fit.save."
        ) from error


def pack(ratings: Ratings) -> xr.Dataset:
    """Ratings as variables and attributes, one per field; a field that is None is left out."""
    packed = xr.Dataset()
    for field in fields(ratings):
        value = getattr(ratings, field.name)
        if isinstance(value, pd.Index):
            packed[field.name] = (f"{field.name}_index", _plain(value))
            packed[field.name].attrs["index"] = 1
        elif isinstance(value, np.ndarray):
            packed[field.name] = (f"{field.name}_index", value)
        elif value is not None:
            packed.attrs[field.name] = int(value) if isinstance(value, bool) else value
    return packed


def unpack(packed: xr.Dataset) -> dict[str, Any]:
    """Fields of the ratings that `pack` packed."""
    values = {field.name: packed.attrs.get(field.name) for field in fields(Ratings)}
    for name, variable in packed.variables.items():
        array = variable.values
        array.flags.writeable = False
        values[str(name)] = pd.Index(array) if "index" in variable.attrs else array
    return values | {"anonymous_raters": bool(packed.attrs["anonymous_raters"])}


def pack_model(model: RatingModel) -> dict[str, Any]:
    """Class and hyperparameters of a model; a prior is its class and arguments."""
    hyperparameters = {field.name: getattr(model, field.name) for field in fields(model)}
    return {
        "class": type(model).__name__,
        "hyperparameters": {
            name: {"class": type(value).__name__, **asdict(value)}
            if is_dataclass(value) and not isinstance(value, type)
            else value
            for name, value in hyperparameters.items()
        },
    }


def unpack_model(packed: Mapping[str, Any]) -> RatingModel:
    """The model that `pack_model` packed."""
    from reliabayes import models

    def build(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        arguments = {name: given for name, given in value.items() if name != "class"}
        return getattr(models, value["class"])(**arguments)

    hyperparameters = {name: build(v) for name, v in packed["hyperparameters"].items()}
    model: RatingModel = getattr(models, packed["class"])(**hyperparameters)
    return model


def _with_plain_ids(group: xr.Dataset) -> xr.Dataset:
    return group.assign_coords(
        {name: (name, _plain(index)) for name, index in group.indexes.items()}
    )


def _plain(ids: pd.Index[Any]) -> Any:
    return ids.to_numpy() if ids.dtype.kind in "biuf" else ids.astype(str).to_numpy(dtype=object)
