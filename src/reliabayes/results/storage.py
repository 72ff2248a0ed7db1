"""Fits on disk: netCDF groups and their checksum, written whole or not at all."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.files import write_whole
from reliabayes.inference.problem import StanPart
from reliabayes.partitions import AnyRatings, in_memory
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import ByFacet
from reliabayes.results.model import Model
from reliabayes.results.modes import Mode
from reliabayes.results.plan import Plan
from reliabayes.results.saved_classes import UnknownClassError, import_name, named_class
from reliabayes.results.saved_file import (
    SEAL,
    check_draws,
    check_numbers,
    check_ratings,
)
from reliabayes.results.settings import Settings
from reliabayes.seals import DAMAGED

FORMAT = 3
WITHOUT_CHECKSUM = 2  # the last format that had none
OF_FACETS = ("facets", "facet")  # fields of ratings with a value for each facet
ENGINE: Literal["h5netcdf"] = "h5netcdf"


class SavedFit(NamedTuple):
    """What a file holds of a fit.

    Attributes
    ----------
    model : RatingModel
        The model, with its hyperparameters.
    ratings : Ratings or RatingsDataset
        The data.
    draws : Dataset
        Parameters and quantities, dims (chain, draw, ...).
    parameters : tuple of str
        Which of the draws are parameters.
    sample_stats : Dataset
        The sampler's statistics.
    settings : Settings
        How the draws were made.
    centring : object or None
        Where and on what scale the program sampled its parameters.
    """

    model: Model
    ratings: AnyRatings
    draws: xr.Dataset
    parameters: tuple[str, ...]
    sample_stats: xr.Dataset
    settings: Settings
    centring: StanPart | None


def save(path: str | os.PathLike[str], fit: SavedFit) -> None:
    """Write a fit whole or not at all."""
    groups = {
        "posterior": fit.draws,
        "sample_stats": fit.sample_stats,
        "ratings": pack(in_memory(fit.ratings, "save")),
    }
    if fit.centring is not None:
        groups["centring"] = pack_arrays(fit.centring)
    about = {
        "model": json.dumps(pack_fields(fit.model)),
        "settings": json.dumps(asdict(fit.settings)),
        "parameters": list(fit.parameters),
        "reliabayes_format": FORMAT,
    }
    groups = {name: _with_plain_ids(group) for name, group in groups.items()}
    content = _to_bytes(groups, about)
    found, _ = read(content)
    if changed := [name for name, group in groups.items() if not found[name].equals(group)]:
        raise ValueError(f"the format of files cannot hold what is in {', '.join(changed)}.")
    write_whole(path, SEAL.sealed(content))


def _to_bytes(groups: Mapping[str, xr.Dataset], about: Mapping[str, Any]) -> bytes:
    """The file as it will be; HDF5 writes to memory, because a full disk makes it crash."""
    import h5netcdf  # type: ignore[import-untyped]

    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        file.attrs.update(about)
        for name, group in groups.items():
            store = xr.backends.H5NetCDFStore(file.create_group(name))
            group.dump_to_store(store)
    return memory.getvalue()


@contextmanager
def load(
    path: str | os.PathLike[str], known: Mapping[str, type], trust: bool = False
) -> Iterator[SavedFit]:
    """The fit in a file that `save` wrote, of known classes; errors in its use name the file."""
    data = _bytes_of(path)
    try:
        whole = SEAL.is_on(data)
        groups, about = read(data)
        if not whole and about.get("reliabayes_format") == FORMAT:
            raise ValueError(f"{DAMAGED} (no checksum)")
        saved = unpack_fit(groups, about, known, trust)
        if not whole:
            check_numbers({name: saved.draws[name].values for name in saved.parameters})
        yield saved
    except UnknownClassError as error:
        raise ValueError(f"{os.fspath(path)!r}: {error}.") from error
    except Exception as error:  # whatever a damaged file makes the libraries raise
        raise ValueError(
            f"{os.fspath(path)!r} is not a readable fit of this version of reliabayes: {error}. "
            "Fit the model again, and save it with Fit.save."
        ) from error


def _bytes_of(path: str | os.PathLike[str]) -> bytes:
    if not Path(path).exists():
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r}.")
    if not Path(path).is_file():  # reading a pipe or a device may never end
        raise ValueError(f"{os.fspath(path)!r} is not a readable fit: it is not a file.")
    return Path(path).read_bytes()


def read(data: bytes) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Groups and attributes of a file of a known format."""
    with xr.open_datatree(io.BytesIO(data), engine=ENGINE) as tree:
        found = tree.attrs.get("reliabayes_format", "none")
        if found not in (FORMAT, WITHOUT_CHECKSUM):
            raise ValueError(f"its format must be {FORMAT}, and it is {found}")
        groups = {name: group.to_dataset().load() for name, group in tree.children.items()}
        return groups, {str(key): value for key, value in tree.attrs.items()}


def unpack_fit(
    groups: Mapping[str, xr.Dataset],
    about: Mapping[str, Any],
    known: Mapping[str, type],
    trust: bool = False,
) -> SavedFit:
    """The fit of a file; ratings, draws and settings that do not fit together are refused."""
    settings = json.loads(about["settings"])
    settings["relabelled"] = tuple(settings["relabelled"])
    settings["modes"] = tuple(Mode(**mode) for mode in settings.get("modes", ()))
    if plan := settings.get("plan"):
        settings["plan"] = Plan(**{**plan, "then": tuple(plan["then"])})
    ratings = Ratings(**unpack(groups["ratings"]))
    check_ratings(ratings)
    saved = SavedFit(
        unpack_fields(json.loads(about["model"]), known, trust),
        ratings,
        groups["posterior"],
        tuple(map(str, np.atleast_1d(about["parameters"]))),
        groups["sample_stats"],
        Settings(**settings),
        unpack_arrays(groups["centring"], known, trust) if "centring" in groups else None,
    )
    check_draws(saved.draws, saved.sample_stats, saved.parameters, saved.settings)
    return saved


def pack(ratings: Ratings) -> xr.Dataset:
    """Ratings as variables and attributes, one per field; a field that is None is left out.

    Variables of facets are numbered, because their names may be none for variables.
    """
    values = {field.name: getattr(ratings, field.name) for field in fields(ratings)}
    of_facets = {name: values.pop(name) for name in OF_FACETS}
    values["left_out"] = json.dumps(ratings.left_out) if ratings.left_out else None
    values["groups"] = None if ratings.item_group is None else ratings.groups
    values["blocks"] = None if ratings.item_block is None else ratings.blocks
    for name, by_facet in of_facets.items():
        values |= {f"{name}_{at}": value for at, value in enumerate(by_facet.values())}
    packed = xr.Dataset()
    for name, value in values.items():
        if isinstance(value, pd.Index):
            packed[name] = (f"{name}_index", _plain(value))
            packed[name].attrs["index"] = 1
        elif isinstance(value, np.ndarray):
            packed[name] = (f"{name}_index", value)
        elif value is not None:
            packed.attrs[name] = int(value) if isinstance(value, bool) else value
    if ratings.facets:
        packed.attrs["facets"] = json.dumps(list(ratings.facets))
    return packed


def unpack(packed: xr.Dataset) -> dict[str, Any]:
    """Fields of the ratings that `pack` packed."""
    facets = json.loads(packed.attrs.get("facets", "[]"))
    values: dict[str, Any] = {
        field.name: packed.attrs.get(field.name)
        for field in fields(Ratings)
        if _is_required(field) or field.name in packed.attrs
    }
    values["left_out"] = json.loads(packed.attrs.get("left_out", "{}"))
    for name, variable in packed.variables.items():
        array = variable.values
        array.flags.writeable = False
        values[str(name)] = pd.Index(array) if "index" in variable.attrs else array
    of_facets = {
        field: ByFacet({name: values.pop(f"{field}_{at}") for at, name in enumerate(facets)})
        for field in OF_FACETS
    }
    return values | of_facets | {"anonymous_raters": bool(packed.attrs["anonymous_raters"])}


def pack_arrays(record: Any) -> xr.Dataset:
    """A dataclass whose fields are arrays."""
    values = {field.name: np.asarray(getattr(record, field.name)) for field in fields(record)}
    return xr.Dataset(
        {
            name: ([f"{name}_{axis}" for axis in range(value.ndim)], value)
            for name, value in values.items()
        },
        attrs={"class": import_name(type(record))},
    )


def unpack_arrays(packed: xr.Dataset, known: Mapping[str, type], trust: bool = False) -> Any:
    """The dataclass that `pack_arrays` packed."""
    arrays = {str(name): variable.values for name, variable in packed.variables.items()}
    found = named_class(packed.attrs["class"], known, trust)
    needed = [each.name for each in fields(found) if _is_required(each)]
    if missing := [name for name in needed if name not in arrays]:
        raise ValueError(f"its form is that of another version, without {', '.join(missing)}")
    return found(**arrays)


def pack_fields(record: Any) -> dict[str, Any]:
    """Class and fields of a dataclass such as a model, and those of the dataclasses in them."""
    values = {field.name: _packed(getattr(record, field.name)) for field in fields(record)}
    return {"class": import_name(type(record)), "fields": values}


def unpack_fields(packed: Mapping[str, Any], known: Mapping[str, type], trust: bool = False) -> Any:
    """The dataclass that `pack_fields` packed."""
    found = named_class(packed["class"], known, trust)  # refused before anything in it is built
    return found(
        **{name: _unpacked(value, known, trust) for name, value in packed["fields"].items()}
    )


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _packed(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return pack_fields(value)
    return [_packed(each) for each in value] if isinstance(value, (tuple, list)) else value


def _unpacked(value: Any, known: Mapping[str, type], trust: bool) -> Any:
    """The value; JSON turns tuples into lists, and frozen models hold tuples."""
    if isinstance(value, list):
        return tuple(_unpacked(each, known, trust) for each in value)
    is_record = isinstance(value, dict) and value.keys() == {"class", "fields"}
    return unpack_fields(value, known, trust) if is_record else value


def _with_plain_ids(group: xr.Dataset) -> xr.Dataset:
    return group.assign_coords(
        {name: (name, _plain(index)) for name, index in group.indexes.items()}
    )


def _plain(ids: pd.Index[Any]) -> Any:
    return ids.to_numpy() if ids.dtype.kind in "biuf" else ids.astype(str).to_numpy(dtype=object)
