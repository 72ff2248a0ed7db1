"""The types of options that commands share, and what they accept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reliabayes as rb
from reliabayes.choices import Family
from reliabayes.cli.importing import importing
from reliabayes.cli.output import STDOUT
from reliabayes.wording import did_you_mean, kebab_case

if TYPE_CHECKING:
    from reliabayes.models import RatingModel


def model_named(name: str) -> type[RatingModel[Any]]:
    """Return the model with a name on the command line.

    Parameters
    ----------
    name : str
        The name, such as ``gaussian-icc``.

    Returns
    -------
    type of RatingModel
        The class of the model.

    Raises
    ------
    typer.BadParameter
        If there is no such model.
    """
    own = {kebab_case(each): each for each in rb.models.NAMES}
    with importing():
        if name in own:
            found: type[RatingModel[Any]] = getattr(rb, own[name])  # without importing the others
            return found
        models = {model.name(): model for model in rb.MODELS}
    if name in models:
        return models[name]
    if not name:
        raise typer.BadParameter(f"name a model: {', '.join(models)}.")
    guess = did_you_mean(name, models)
    hint = "" if guess is None else f" Did you mean {guess}?"
    raise typer.BadParameter(f"it must be one of {', '.join(models)}, not {name!r}.{hint}")


def models_named(names: str) -> list[RatingModel[Any]]:
    """Return the models of a list of names on the command line.

    Parameters
    ----------
    names : str
        Names, separated by commas.

    Returns
    -------
    list of RatingModel
        The models, each once, with their default settings.

    Raises
    ------
    typer.BadParameter
        If one of them does not exist, or there is none.
    """
    stripped = filter(None, map(str.strip, names.split(",")))
    return [model_named(name)() for name in dict.fromkeys(stripped) or [""]]


@dataclass(frozen=True)
class Facets:
    """Options of the model of several facets.

    Attributes
    ----------
    design : str, optional
        Which facets are crossed or nested.
    drop : list of str, optional
        Sources of variance to leave out.
    family : {"gaussian", "logit", "ordinal"}, optional
        Distribution of the ratings.
    """

    design: Annotated[
        str | None,
        typer.Option(
            metavar="DESIGN",
            help='Facets of gstudy, such as "item x (rater:occasion)"; see --facet.',
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            help="Source of variance that --design implies and gstudy is to leave out, such as "
            '"rater x occasion". Can be repeated.',
        ),
    ] = None
    family: Annotated[
        Family | None,
        typer.Option(
            help="Ratings of gstudy: numbers, two categories, or ordered ones.",
            show_default="gaussian",
        ),
    ] = None

    def of(self, model: RatingModel[Any] | None) -> RatingModel[Any] | None:
        """Return the model that was named, with the design that was given.

        Parameters
        ----------
        model : RatingModel, optional
            The model; by default gstudy if there is a design or family.

        Returns
        -------
        RatingModel or None
            None if neither was given.

        Raises
        ------
        typer.BadParameter
            If the model takes no design or family, or there is no such design or source.
        """
        if self.drop and self.design is None:
            raise typer.BadParameter("--drop leaves out sources of a --design; give one.")
        given = self._given()
        if not given:
            return model
        if not isinstance(model, (rb.GStudy, type(None))):
            option = next(iter(given))
            raise typer.BadParameter(f"--{option} is for --model gstudy, not {model.name()}.")
        try:
            return rb.GStudy(**given, drop=tuple(self.drop or ()))
        except ValueError as error:
            option = "--drop" if str(error).startswith("drop") else "--design"
            raise typer.BadParameter(f"{option}: {error}") from error

    def among(self, names: str | None) -> list[RatingModel[Any]]:
        """Return the models that were named, gstudy with the design that was given.

        Parameters
        ----------
        names : str, optional
            Names, separated by commas; by default gstudy if there is a design or family.

        Returns
        -------
        list of RatingModel
            None if neither was given.

        Raises
        ------
        typer.BadParameter
            If no model takes the design or family, or there is no such model, design or source.
        """
        named = [] if names is None else models_named(names)
        of_facets = self.of(None)
        if of_facets is None:
            return named
        if named and not any(isinstance(model, rb.GStudy) for model in named):
            option = next(iter(self._given()))
            raise typer.BadParameter(f"--{option} is for gstudy, which --models does not name.")
        return [
            of_facets if isinstance(model, rb.GStudy) else model for model in named or [of_facets]
        ]

    def _given(self) -> dict[str, Any]:
        """Return arguments of gstudy by name."""
        own = {"design": self.design, "family": self.family}
        return {name: value for name, value in own.items() if value is not None}


def probability(value: float) -> float:
    """Check a probability.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    float
        The same number, strictly between 0 and 1.

    Raises
    ------
    typer.BadParameter
        If it is not in this range.
    """
    if 0 < value < 1:
        return value
    raise typer.BadParameter(f"it must lie strictly between 0 and 1, not {value:g}.")


def writable(path: Path | None) -> Path | None:
    """Check that an output can be written, before anything is computed.

    Parameters
    ----------
    path : Path or None
        The output, if there is one.

    Returns
    -------
    Path or None
        The same output, with links resolved.

    Raises
    ------
    typer.BadParameter
        If no file can be written there.
    """
    if path is None or path == STDOUT:
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise typer.BadParameter(f"{path} is a symbolic link that leads back to itself.")
    if target.exists() and not target.is_file():
        raise typer.BadParameter(f"{path} must be a file, because it will be replaced.")
    try:
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}."):
            return target
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {error.strerror}.") from error


def check_outputs(file: Path, outputs: Mapping[str, Path | None]) -> None:
    """Check that no output would replace another output or the ratings.

    Parameters
    ----------
    file : Path
        The file of ratings.
    outputs : mapping from str to Path or None
        The output of each option, if there is one.

    Raises
    ------
    typer.BadParameter
        If an output would be lost.
    """
    wanted = {f"--{name}": path for name, path in outputs.items() if path is not None}
    for name, path in wanted.items():
        if path == STDOUT and name != "--json":
            raise typer.BadParameter(
                f"{name} must name a file; only --json can go to standard output."
            )
        same = [other for other in wanted if other != name and wanted[other] == path]
        if same:
            raise typer.BadParameter(f"{name} and {same[0]} must name two files.")
        if path == Path(os.path.realpath(file)):
            raise typer.BadParameter(f"{name} must not overwrite the ratings {file}.")


def check_numbers(text: str | None) -> str | None:
    """Check whole numbers separated by commas.

    Parameters
    ----------
    text : str or None
        The value of an option.

    Returns
    -------
    str or None
        The same text.

    Raises
    ------
    typer.BadParameter
        If it is something else.
    """
    if text is None or all(number.strip().isdecimal() for number in text.split(",")):
        return text
    raise typer.BadParameter(f"it must be numbers separated by commas, not {text!r}.")


def check_delimiter(value: str | None) -> str | None:
    r"""Check a delimiter.

    Parameters
    ----------
    value : str or None
        The delimiter as typed in a shell, if there is one.

    Returns
    -------
    str or None
        One character; a tab for ``\t``.

    Raises
    ------
    typer.BadParameter
        If it is longer.
    """
    if value is None or len(value) == 1:
        return value
    if value == r"\t":
        return "\t"
    raise typer.BadParameter(f"it must be one character, not {value!r}.")


def check_encoding(name: str) -> str:
    """Check an encoding.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    str
        The same name.

    Raises
    ------
    typer.BadParameter
        If Python does not have it.
    """
    from reliabayes.ratings.argument_checks import why_no_encoding

    if reason := why_no_encoding(name):
        raise typer.BadParameter(f"{reason}. Try latin-1 or utf-16.")
    return name


JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="OUT",
        callback=writable,
        help="Write the results as JSON to this file; - for standard output.",
    ),
]
Methods = Annotated[
    bool,
    typer.Option("--methods", help="Print a sentence for the paper and its references in BibTeX."),
]
Prob = Annotated[
    float, typer.Option(callback=probability, help="Probability of the intervals, 0 to 1.")
]
