"""The command line: results to standard output, all else to standard error."""

from __future__ import annotations

import codecs
import json
import math
import re
import signal
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

import reliabayes as rb
from reliabayes import datasets, storage
from reliabayes.comparison import refuses_comparison
from reliabayes.intake.wording import did_you_mean
from reliabayes.ratings import Replicates, Scale

if TYPE_CHECKING:
    import pandas as pd

    from reliabayes.models import RatingModel

FAILURE, BAD_INPUT, INTERRUPTED = 1, 2, 128 + signal.SIGINT
OPTIONS = (
    "item",
    "rater",
    "rating",
    "pool",
    "gold",
    "scale",
    "replicates",
    "delimiter",
    "encoding",
)
STDOUT = Path("-")
WIDE = 10_000  # columns: nobody's table is folded on its way into a pipe or a file

out = Console(highlight=False, markup=False)
err = Console(highlight=False, markup=False, stderr=True)


class Commands(TyperGroup):
    """Commands that tell what went wrong in words, and by their exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; no fault, failure or interrupt ends in a traceback."""
        try:
            with _warnings_told():
                return super().invoke(ctx)
        except rb.RatingsError as error:
            _stop(_for_shell(error), BAD_INPUT)
        except (rb.SamplingError, OSError) as error:
            _stop(error, FAILURE)
        except ValueError as error:
            _stop(error, BAD_INPUT)
        except MemoryError:
            _stop("there is not enough memory.", FAILURE)
        except KeyboardInterrupt:
            _stop("interrupted.", INTERRUPTED)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; a request to terminate ends it as an interrupt does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="reliabayes")


def _model_named(name: str) -> type[RatingModel]:
    models = {model.name(): model for model in rb.MODELS}
    if name in models:
        return models[name]
    if not name:
        raise typer.BadParameter(f"one must be chosen: {', '.join(models)}.")
    guess = did_you_mean(name, models)
    hint = "" if guess is None else f" Did you mean {guess}?"
    raise typer.BadParameter(f"it must be one of {', '.join(models)}, not {name!r}.{hint}")


def _probability(value: float) -> float:
    if 0 < value < 1:
        return value
    raise typer.BadParameter(f"it must lie strictly between 0 and 1, not {value:g}.")


def _delimiter(value: str | None) -> str | None:
    if value is None or len(value) == 1:
        return value
    if value == r"\t":
        return "\t"
    raise typer.BadParameter(f"it must be one character, not {value!r}.")


def _encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError as error:
        raise typer.BadParameter(f"{error}. Try latin-1 or utf-16.") from error
    return name


def _writable(path: Path | None) -> Path | None:
    """Return where to write, links followed; refuse what could not be written in the end."""
    if path is None or path == STDOUT:
        return path
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise typer.BadParameter(f"{path} must be a file, to be replaced when all is done.")
    try:
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}."):
            return target
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {error.strerror}.") from error


def _check_outputs(file: Path, outputs: Mapping[str, Path | None]) -> None:
    wanted = {f"--{name}": path for name, path in outputs.items() if path is not None}
    for name, path in wanted.items():
        if path == STDOUT and name != "--json":
            raise typer.BadParameter(
                f"{name} must name a file; only --json can go to standard output."
            )
        same = [other for other in wanted if other != name and wanted[other] == path]
        if same:
            raise typer.BadParameter(f"{name} and {same[0]} must name two files.")
        if path == file.resolve():
            raise typer.BadParameter(f"{name} must not overwrite the ratings {file}.")


def _point_estimate(model: RatingModel, ratings: rb.Ratings, save: Path | None) -> rb.PointEstimate:
    if save is not None:
        raise typer.BadParameter("--save keeps draws, and --method em has none.")
    if not hasattr(model, "em"):
        raise typer.BadParameter(f"{model.name()} has no method em; leave it out for mcmc.")
    estimate: rb.PointEstimate = model.em(ratings)
    return estimate


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print("reliabayes", version("reliabayes"))
        raise typer.Exit


File = Annotated[Path, typer.Argument(help="Table with one rating per row: CSV, TSV, Parquet.")]
Item = Annotated[str, typer.Option(metavar="COLUMN", help="What was rated.")]
Rater = Annotated[str, typer.Option(metavar="COLUMN", help="Who rated it.")]
Rating = Annotated[str, typer.Option(metavar="COLUMN", help="The rating.")]
Pool = Annotated[str | None, typer.Option(metavar="COLUMN", help="The rater's group.")]
Gold = Annotated[str | None, typer.Option(metavar="COLUMN", help="The item's known truth.")]
ScaleOption = Annotated[Scale | None, typer.Option(help="How categories relate; else inferred.")]
ReplicatesOption = Annotated[
    Replicates, typer.Option(help="Whether a rater may rate an item several times.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        callback=_delimiter, metavar="CHAR", help="What stands between fields; else inferred."
    ),
]
Encoding = Annotated[
    str, typer.Option(callback=_encoding, metavar="NAME", help="How the letters are encoded.")
]
Prob = Annotated[float, typer.Option(callback=_probability, help="Probability of the interval.")]


@app.callback()
def options(
    print_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """How far to trust human ratings."""


Seed = Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="Same seed, same draws.")]
Chains = Annotated[int, typer.Option(min=1, help="Markov chains.")]
DrawsOption = Annotated[int, typer.Option(min=4, help="Draws a chain.")]


@app.command()
def fit(
    file: File,
    model: Annotated[
        Any,
        typer.Option(
            parser=_model_named,
            metavar="MODEL",
            show_default=False,
            help="Required: one that `reliabayes models` lists.",
        ),
    ] = "",  # no model: refused in words that name them all
    method: Annotated[
        Literal["mcmc", "em"],
        typer.Option(help="The posterior, or the point of largest likelihood alone."),
    ] = "mcmc",
    item: Item = "item",
    rater: Rater = "rater",
    rating: Rating = "rating",
    pool: Pool = None,
    gold: Gold = None,
    scale: ScaleOption = None,
    replicates: ReplicatesOption = "error",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    chains: Chains = 4,
    warmup: Annotated[
        int | None, typer.Option(min=0, help="Iterations a chain to adapt; else the model's.")
    ] = None,
    draws: DrawsOption = 1000,
    seed: Seed = None,
    prob: Prob = 0.9,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="OUT",
            callback=_writable,
            help="Write the results as JSON; - for standard output.",
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(metavar="OUT.csv", callback=_writable, help="Write what is said of items."),
    ] = None,
    raters: Annotated[
        Path | None,
        typer.Option(metavar="OUT.csv", callback=_writable, help="Write what is said of raters."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="OUT.nc", callback=_writable, help="Write the whole fit as netCDF."),
    ] = None,
) -> None:
    """Fit a model to the ratings of a table and print the posterior."""
    _check_outputs(file, {"json": json_file, "items": items, "raters": raters, "save": save})
    columns = {"item": item, "rater": rater, "rating": rating, "pool": pool, "gold": gold}
    ratings = _read(
        file,
        **columns,
        scale=scale,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    fitted: rb.Fit | rb.PointEstimate
    if method == "em":
        fitted = _point_estimate(model(), ratings, save)
    else:
        fit = model().fit(ratings, chains=chains, warmup=warmup, draws=draws, seed=seed)
        if save is not None:
            fit.save(save)
        fitted = fit
    for path, table in ((items, fitted.items), (raters, fitted.raters)):
        if path is not None:
            with storage.whole(path) as partial:
                table().to_csv(partial)
    report = _as_json(fitted, prob, {"file": str(file), "columns": columns})
    if json_file is not None and json_file != STDOUT:
        with storage.whole(json_file) as partial:
            partial.write_text(report)
    if json_file == STDOUT:
        out.out(report, end="")
    else:
        _print_results(fitted, prob)
    _tell_diagnostics(fitted)


@app.command()
def compare(
    file: File,
    models: Annotated[
        str,
        typer.Option(
            metavar="MODEL,MODEL,...",
            show_default=False,
            help="Two or more that `reliabayes models` lists, with commas between.",
        ),
    ] = "",
    item: Item = "item",
    rater: Rater = "rater",
    rating: Rating = "rating",
    pool: Pool = None,
    gold: Gold = None,
    scale: ScaleOption = None,
    replicates: ReplicatesOption = "error",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    chains: Chains = 4,
    draws: DrawsOption = 1000,
    seed: Seed = None,
) -> None:
    """Tell which models predict the ratings of a left-out item best, in bits per rating."""
    chosen = [_model_named(name) for name in filter(None, map(str.strip, models.split(",")))]
    if len(set(chosen)) < 2:
        raise typer.BadParameter("--models must name two models or more, with commas between.")
    if refusal := refuses_comparison({other.name(): other for other in chosen}):
        raise typer.BadParameter(refusal)
    ratings = _read(
        file,
        item=item,
        rater=rater,
        rating=rating,
        pool=pool,
        gold=gold,
        scale=scale,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    fits = {}
    for other in chosen:
        fits[other.name()] = other().fit(ratings, chains=chains, draws=draws, seed=seed)
        _tell(f"{other.name()}:")
        _tell_diagnostics(fits[other.name()])
    table = rb.compare(fits)
    printed = _table("model", *table.columns, numbers=table.columns)
    for name, row in zip(table.index, table.itertuples(index=False), strict=True):
        shown = (f"{x:.4f}" if isinstance(x, float) else str(x) for x in row)
        printed.add_row(str(name), *shown)
    _print(printed)


@app.command()
def describe(
    file: File,
    item: Item = "item",
    rater: Rater = "rater",
    rating: Rating = "rating",
    pool: Pool = None,
    scale: ScaleOption = None,
    replicates: ReplicatesOption = "error",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Print the size and the design of the ratings of a table, or all its faults."""
    ratings = _read(
        file,
        item=item,
        rater=rater,
        rating=rating,
        pool=pool,
        scale=scale,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    _print_description(ratings)


@app.command()
def models() -> None:
    """Print the models, and the quantities that each of them reports."""
    table = _table("model", "what for", "quantities")
    for model in rb.MODELS:
        table.add_row(model.name(), model.summary, ", ".join(model.reports))
    _print(table)


@app.command()
def demo() -> None:
    """Print how reliable the ratings of a published table are, and what that means."""
    _published("dawid_skene_1979")
    judged = _published("shrout_fleiss_1979")
    _print_text("Posterior of the Gaussian ICC, given the latter:")
    fitted = rb.GaussianICC().fit(judged, seed=1979)
    _print_posterior(fitted, 0.9)
    _tell_diagnostics(fitted)
    _print_text(f"\n{_in_words(fitted)}")


def _published(name: str) -> rb.Ratings:
    about = datasets.about(name)
    ratings = rb.Ratings.from_frame(datasets.load(name), scale=about.scale, replicates="keep")
    _print_text(f"{about.source}: {about.description}.\n{ratings!r}\n")
    return ratings


def _read(file: Path, **options: Any) -> rb.Ratings:
    try:
        return rb.read_ratings(file, **options)
    except (OSError, ImportError) as error:
        _stop(error, BAD_INPUT)


def _table(*headers: str, numbers: Collection[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in headers:
        is_number = header in numbers
        table.add_column(
            header, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    return table


def _print(table: Table) -> None:
    """Print a table, folded to the width of a terminal, but never in a pipe or a file."""
    if out.is_terminal:
        out.print(table)
        return
    unbounded = Console(width=WIDE, highlight=False, markup=False)
    with unbounded.capture() as captured:
        unbounded.print(table)
    out.out("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _print_text(text: str) -> None:
    out.print(text, soft_wrap=not out.is_terminal)


def _print_description(ratings: rb.Ratings) -> None:
    table = _table("", "")
    table.show_header = False
    for name, value in ratings.describe().items():
        table.add_row(str(name), f"{value:.4g}" if isinstance(value, float) else str(value))
    _print(table)


def _print_results(fitted: rb.Fit | rb.PointEstimate, prob: float) -> None:
    if isinstance(fitted, rb.Fit):
        _print_posterior(fitted, prob)
        return
    table = _table("quantity", "estimate", numbers=("estimate",))
    for name, value in fitted.summary()["estimate"].items():
        table.add_row(str(name), f"{value:.4f}")
    _print(table)


def _print_posterior(fitted: rb.Fit, prob: float) -> None:
    tail = 50 * (1 - prob)
    bounds = f"{tail:g}%", f"{100 - tail:g}%"
    numbers = "mean", "sd", "median", *bounds, "ess_bulk", "ess_tail", "r_hat"
    table = _table("quantity", *numbers, numbers=numbers)
    for name, row in _summary(fitted, prob).iterrows():
        shown = _formatter(row["sd"])
        values = [shown(row[key]) for key in ("mean", "sd", "median", "lower", "upper")]
        sizes = [f"{row[key]:.0f}" for key in ("ess_bulk", "ess_tail")]
        table.add_row(str(name), *values, *sizes, f"{row['r_hat']:.3f}")
    _print(table)


def _formatter(sd: float) -> Callable[[float], str]:
    """Return how to show numbers of this sd: to three of its digits, and four decimals at most."""
    if not 1e-4 <= sd < 1e5:
        return "{:.3g}".format
    decimals = min(4, max(0, 2 - math.floor(math.log10(sd))))
    return f"{{:.{decimals}f}}".format


def _summary(fitted: rb.Fit, prob: float) -> pd.DataFrame:
    """Return the posterior of each quantity, by columns that do not depend on the interval."""
    table = fitted.summary(prob).assign(prob=prob)
    table.columns = table.columns.str.replace(r"^(lower|upper)_.*", r"\1", regex=True)
    return table


def _tell_diagnostics(fitted: rb.Fit | rb.PointEstimate) -> None:
    if isinstance(fitted, rb.PointEstimate):
        _tell(fitted)
        return
    found, made = fitted.diagnostics(), fitted.settings
    _tell(
        f"{made.chains} x {made.draws} draws, seed {made.seed}: "
        f"R-hat up to {found.r_hat:.3f}, ESS from {found.ess_bulk:.0f} (bulk) and "
        f"{found.ess_tail:.0f} (tail), {found.divergences} divergences, "
        f"{found.tree_depth_hits} at the largest tree depth, E-BFMI from {found.bfmi:.2f}."
    )


def _in_words(fitted: rb.Fit) -> str:
    tails = [0.05, 0.5, 0.95]
    low, share, high = fitted.quantities["icc"].quantile(tails).values
    fewest, needed, most = fitted.raters_needed(0.8).quantile(tails, method="higher").values
    return (
        f"In words: of the variance of a single score, {share:.0%} comes from true differences "
        f"between the targets, the rest from who scored and from chance (the ICC; 90% interval "
        f"{low:.0%} to {high:.0%}); for mean scores with a reliability of 0.8, each target needs "
        f"{needed:.0f} judges (90% interval {fewest:.0f} to {most:.0f})."
    )


def _as_json(fitted: rb.Fit | rb.PointEstimate, prob: float, source: Mapping[str, Any]) -> str:
    ratings = fitted.ratings
    report = {
        "model": fitted.model.name(),
        "version": version("reliabayes"),
        "data": {
            **source,
            "ratings": len(ratings),
            "items": ratings.n_items,
            "raters": ratings.n_raters,
            "pools": ratings.pools.tolist(),
            "scale": ratings.scale,
            "complete": ratings.is_complete,
        },
        **_results(fitted, prob),
    }
    return json.dumps(report, indent=2, allow_nan=False) + "\n"


def _results(fitted: rb.Fit | rb.PointEstimate, prob: float) -> dict[str, Any]:
    if isinstance(fitted, rb.PointEstimate):
        return {
            "method": "em",
            "quantities": {
                str(name): {"estimate": _plain(value)}
                for name, value in fitted.summary()["estimate"].items()
            },
            "diagnostics": {
                "converged": fitted.converged,
                "iterations": len(fitted.path) - 1,
                "log_likelihood": fitted.log_likelihood,
            },
        }
    keys = ["mean", "sd", "median", "lower", "upper", "prob", "ess_bulk", "ess_tail", "r_hat"]
    return {
        "method": "mcmc",
        "quantities": {
            str(name): {key: _plain(row[key]) for key in keys}
            for name, row in _summary(fitted, prob).iterrows()
        },
        "diagnostics": {
            **{key: _plain(value) for key, value in asdict(fitted.diagnostics()).items()},
            "problems": fitted.diagnostics().problems,
            "settings": asdict(fitted.settings),
        },
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON can have it: there are no numbers that are not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _for_shell(error: rb.RatingsError) -> rb.RatingsError:
    """Return the error with its remedies naming options of the command line."""
    argument = re.compile(rf"\b({'|'.join(OPTIONS)})=")
    return rb.RatingsError(
        replace(fault, remedy=argument.sub(r"--\1 ", fault.remedy)) for fault in error.faults
    )


def _stop(message: object, status: int) -> NoReturn:
    _tell(message)
    raise typer.Exit(status)


def _tell(message: object) -> None:
    err.print(f"reliabayes: {message}", soft_wrap=not err.is_terminal)


@contextmanager
def _warnings_told() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("always", rb.ConvergenceWarning)
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        warnings.showwarning = lambda message, *_: _tell(f"warning: {message}")
        yield
