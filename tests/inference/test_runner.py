"""The runner accepts CmdStan's arguments, writes CmdStan's files, and names invalid requests."""

from __future__ import annotations

import json
import math
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest
from cmdstanpy import CmdStanMCMC, CmdStanModel

from reliabayes.arrays import Array
from reliabayes.inference.stan_csv import read_variables
from tests.monte_carlo import standard_error

Compiled = Callable[[str], Path]

NORMAL: dict[str, Any] = {"N": 4, "y": [1.0, 2.0, 3.0, 4.5], "sd": 1.5, "prior_sd": 10.0}
POSTERIOR_SD = (4 / 1.5**2 + 1 / 10.0**2) ** -0.5
POSTERIOR_MEAN = POSTERIOR_SD**2 * 10.5 / 1.5**2

COVARIANCE = np.array([[1.0, 1.2], [1.2, 4.0]])
LOCATION = np.array([1.0, -2.0])
RATE = 0.5
CORRELATED: dict[str, Any] = {"location": LOCATION, "covariance": COVARIANCE, "rate": RATE}

ONE_ITEM: dict[str, Any] = {
    **{"K": 2, "D": 1, "C": 1, "V": 3, "W": 1, "table_free": 1, "weight_free": 1},
    **{"multiplicity": [1], "kind": [1], "first": [1, 2], "cell": [1], "count": [1.0]},
}

ECHOED: dict[str, Any] = {
    "count": -2147483648,
    "number": 0.1 + 0.2,
    "table": [[1, 2, 3], [4, 5, 6]],
    "boxes": (np.arange(12).reshape(2, 3, 2) / 7).tolist(),
}


@pytest.fixture(scope="module")
def normal(compiled: Compiled) -> CmdStanModel:
    return CmdStanModel(exe_file=compiled("normal_mean"))


@pytest.fixture(scope="module")
def correlated(compiled: Compiled) -> CmdStanModel:
    return CmdStanModel(exe_file=compiled("correlated"))


@pytest.fixture(scope="module")
def fit(normal: CmdStanModel) -> CmdStanMCMC:
    return sample(normal, NORMAL, chains=2, iter_sampling=2000, save_warmup=True, thin=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.json").write_text(json.dumps(NORMAL))
    return tmp_path


def sample(model: CmdStanModel, data: dict[str, Any], **options: Any) -> CmdStanMCMC:
    settings = {"seed": 1, "show_progress": False} | options
    return model.sample(data, **settings)


def run(executable: Path, folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    command = [str(executable), *words.split()]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def rows(csv: Path) -> list[str]:
    """Column names and draws; the comments are dropped because they contain times."""
    return [line for line in csv.read_text().splitlines() if not line.startswith("#")]


def cells(csv: Path) -> list[str]:
    return [cell for row in rows(csv)[1:] for cell in row.split(",")]


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def effective(draws: Array) -> float:
    """Effective sample size of the mean of draws (chain, draw)."""
    return float(draws.var() / standard_error(draws, "mean") ** 2)


def assert_agrees(draws: Array, mean: float, sd: float) -> None:
    """Draws (chain, draw) estimate the exact mean and sd within five Monte Carlo errors."""
    assert abs(draws.mean() - mean) < 5 * standard_error(draws, "mean")
    assert abs(draws.std() - sd) < 5 * standard_error(draws, "sd")


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["unit_e", "diag_e", "dense_e"])
def test_sample_draws_from_the_exact_posterior(correlated: CmdStanModel, metric: str) -> None:
    fit = sample(correlated, CORRELATED, chains=2, metric=metric)

    effect = fit.draws_xr("effect")["effect"].to_numpy()
    assert_agrees(effect[..., 0], LOCATION[0], 1.0)
    assert_agrees(effect[..., 1], LOCATION[1], 2.0)
    assert_agrees(fit.draws_xr("scale")["scale"].to_numpy(), 1 / RATE, 1 / RATE)


@pytest.mark.slow
def test_cmdstanpy_reads_every_section_of_the_csv(fit: CmdStanMCMC) -> None:
    assert fit.column_names[-3:] == ("mean_rating", "doubled", "new_rating")
    assert fit.draws().shape == (1000, 2, 10)
    assert fit.draws(inc_warmup=True).shape == (1500, 2, 10)
    assert fit.metadata.cmdstan_config["data_file"].endswith(".json")
    assert fit.metadata.cmdstan_config["num_samples"] == 2000
    assert fit.metric_type == "diag_e"
    assert fit.inv_metric is not None
    assert fit.inv_metric.shape == (2, 1)
    assert fit.step_size is not None
    assert np.all(fit.step_size > 0)
    assert fit.divergences is not None
    assert not fit.divergences.any()
    assert set(fit.time[0]) == {"warmup", "sampling", "total"}


def test_arviz_reads_the_draws(fit: CmdStanMCMC) -> None:
    posterior = az.from_cmdstanpy(fit).posterior  # type: ignore[no-untyped-call]

    assert_agrees(posterior["mean_rating"].to_numpy(), POSTERIOR_MEAN, POSTERIOR_SD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "given"), [("diag_e", np.array([1.0, 4.0, 0.5])), ("dense_e", np.eye(3) * 2)]
)
def test_metric_and_step_size_are_kept_without_adaptation(
    correlated: CmdStanModel, metric: str, given: Array
) -> None:
    fit = sample(
        correlated,
        CORRELATED,
        chains=2,
        metric=metric,
        inv_metric=[given, given],
        step_size=0.25,
        adapt_engaged=False,
        iter_sampling=20,
    )

    assert fit.inv_metric is not None
    assert fit.step_size is not None
    np.testing.assert_array_equal(fit.inv_metric, [given, given])
    np.testing.assert_array_equal(fit.step_size, 0.25)


@pytest.mark.slow
def test_adaptation_arguments_take_effect(normal: CmdStanModel) -> None:
    high_delta = sample(normal, NORMAL, chains=1, adapt_delta=0.99, max_treedepth=12)
    low_delta = sample(normal, NORMAL, chains=1, adapt_delta=0.5, adapt_init_phase=10)

    assert high_delta.step_size is not None
    assert low_delta.step_size is not None
    assert high_delta.step_size[0] < low_delta.step_size[0]


def test_each_chain_starts_at_its_own_initial_values(normal: CmdStanModel) -> None:
    starts = [{"mean_rating": 50.0}, {"mean_rating": -50.0}]

    fit = sample(
        normal,
        NORMAL,
        chains=2,
        inits=starts,
        step_size=1e-9,
        adapt_engaged=False,
        iter_warmup=0,
        iter_sampling=1,
    )

    np.testing.assert_allclose(fit.stan_variable("mean_rating"), [50, -50], atol=1e-3)


def test_a_program_without_parameters_returns_its_data(compiled: Compiled) -> None:
    model = CmdStanModel(exe_file=compiled("echo"))

    fit = sample(model, ECHOED, chains=1, iter_sampling=3, sig_figs=17)

    np.testing.assert_array_equal(fit.stan_variable("count_again"), [ECHOED["count"]] * 3)
    np.testing.assert_array_equal(fit.stan_variable("number_again"), [ECHOED["number"]] * 3)
    np.testing.assert_array_equal(fit.stan_variable("table_again"), [ECHOED["table"]] * 3)
    np.testing.assert_array_equal(fit.stan_variable("boxes_again"), [ECHOED["boxes"]] * 3)


def test_fixed_param_keeps_the_initial_values(normal: CmdStanModel) -> None:
    inits = {"mean_rating": 3.25}

    fit = sample(normal, NORMAL, chains=1, inits=inits, fixed_param=True, iter_sampling=5)

    np.testing.assert_array_equal(fit.stan_variable("mean_rating"), [3.25] * 5)


def test_cmdstanpy_reports_the_refused_data(normal: CmdStanModel) -> None:
    with pytest.raises(RuntimeError, match=r"data file=.*variable name=y"):
        sample(normal, NORMAL | {"y": [1.0]}, chains=1)


@pytest.mark.parametrize("jacobian", [True, False])
def test_log_prob_and_its_gradient_are_exact(correlated: CmdStanModel, jacobian: bool) -> None:
    effect, scale = np.array([0.3, 0.7]), 1.7
    params = {"effect": effect, "scale": scale}

    found = correlated.log_prob(params, CORRELATED, jacobian=jacobian, sig_figs=18).to_numpy()[0]

    descent = np.linalg.solve(COVARIANCE, effect - LOCATION)
    lp = -(effect - LOCATION) @ descent / 2 - RATE * scale + jacobian * math.log(scale)
    np.testing.assert_allclose(found, [lp, *-descent, jacobian - RATE * scale], rtol=1e-8)


def test_log_prob_takes_several_unconstrained_vectors(compiled: Compiled, folder: Path) -> None:
    (folder / "points.json").write_text('{"params_r": [[0.5], [1.5], [2.5]]}')

    run(
        compiled("normal_mean"),
        folder,
        "log_prob unconstrained_params=points.json data file=data.json",
    )

    names, *found = rows(folder / "output.csv")
    gradients = [float(row.split(",")[1]) for row in found]
    expected = (POSTERIOR_MEAN - np.array([0.5, 1.5, 2.5])) / POSTERIOR_SD**2
    assert names == "lp__,g_mean_rating"
    np.testing.assert_allclose(gradients, expected, rtol=1e-7)


def test_diagnose_finds_the_exact_gradient(normal: CmdStanModel) -> None:
    found = normal.diagnose(inits={"mean_rating": 1.25}, data=NORMAL)

    gradient = (POSTERIOR_MEAN - 1.25) / POSTERIOR_SD**2
    assert found["model"].to_numpy() == pytest.approx(gradient, rel=1e-5)
    assert abs(found["error"].to_numpy()) < 1e-6


def test_diagnose_keeps_its_table_when_gradients_differ(normal: CmdStanModel) -> None:
    options: dict[str, Any] = {"data": NORMAL, "inits": {"mean_rating": 1.25}, "epsilon": 1e-13}

    with pytest.raises(RuntimeError, match="may exceed the error threshold"):
        normal.diagnose(**options)
    assert len(normal.diagnose(**options, require_gradients_ok=False)) == 1


def test_info_describes_the_executable(normal: CmdStanModel) -> None:
    info = normal.exe_info()

    assert (info["stan_version_major"], info["stan_version_minor"]) == ("2", "35")
    assert info["STAN_THREADS"] == "false"


def test_same_seed_and_id_give_the_same_bytes(compiled: Compiled, folder: Path) -> None:
    words = (
        "sample num_samples=50 num_warmup=50 data file=data.json random seed=7 id={} output file={}"
    )
    for chain, name in [(1, "a.csv"), (1, "b.csv"), (2, "c.csv")]:
        assert run(compiled("normal_mean"), folder, words.format(chain, name)).returncode == 0

    assert rows(folder / "a.csv") == rows(folder / "b.csv")
    assert rows(folder / "a.csv") != rows(folder / "c.csv")


@pytest.mark.parametrize("digits", [1, 8, 17, 18])
def test_numbers_have_the_requested_digits(compiled: Compiled, folder: Path, digits: int) -> None:
    words = "sample num_samples=20 data file=data.json random seed=1 output file={} sig_figs={}"

    run(compiled("normal_mean"), folder, words.format("exact.csv", 17))
    run(compiled("normal_mean"), folder, words.format("rounded.csv", digits))

    exact = [float(cell) for cell in cells(folder / "exact.csv")]
    assert cells(folder / "rounded.csv") == [f"{number:.{digits}g}" for number in exact]


def test_progress_is_reported_at_the_requested_interval(compiled: Compiled, folder: Path) -> None:
    words = "sample num_samples=100 num_warmup=100 data file=data.json output refresh={}"

    often = run(compiled("normal_mean"), folder, words.format(50)).stdout
    never = run(compiled("normal_mean"), folder, words.format(0)).stdout

    assert [line for line in often.splitlines() if line.startswith("Iteration")] == [
        "Iteration:   1 / 200 [  0%]  (Warmup)",
        "Iteration:  50 / 200 [ 25%]  (Warmup)",
        "Iteration: 100 / 200 [ 50%]  (Warmup)",
        "Iteration: 101 / 200 [ 50%]  (Sampling)",
        "Iteration: 150 / 200 [ 75%]  (Sampling)",
        "Iteration: 200 / 200 [100%]  (Sampling)",
    ]
    assert "Iteration" not in never


def test_the_adapted_metric_can_be_given_to_another_run(compiled: Compiled, folder: Path) -> None:
    adapting = "sample num_samples=1 adapt save_metric=1 data file=data.json output file=first.csv"
    using = (
        "sample num_samples=1 adapt engaged=0 algorithm=hmc metric_file=first_metric.json "
        "data file=data.json output file=second.csv sig_figs=6"
    )

    first = run(compiled("normal_mean"), folder, adapting)
    second = run(compiled("normal_mean"), folder, using)

    metric = json.loads((folder / "first_metric.json").read_text())
    assert (first.returncode, second.returncode) == (0, 0)
    assert metric["metric_type"] == "diag_e"
    assert f"# {metric['inv_metric'][0]:.6g}\n" in (folder / "second.csv").read_text()


def test_the_configuration_is_written_as_json(compiled: Compiled, folder: Path) -> None:
    words = "sample num_samples=3 adapt delta=0.9 data file=data.json output save_cmdstan_config=1"

    run(compiled("normal_mean"), folder, words)

    config = json.loads((folder / "output_config.json").read_text())
    assert config["method"]["sample"]["num_samples"] == 3
    assert config["method"]["sample"]["adapt"]["delta"] == 0.9
    assert config["method"]["sample"]["algorithm"]["hmc"]["metric"]["value"] == "diag_e"
    assert config["data"]["file"] == "data.json"


def test_side_files_are_written_on_request(compiled: Compiled, folder: Path) -> None:
    words = (
        "sample num_samples=3 data file=data.json output profile_file=p.csv diagnostic_file=d.csv"
    )

    run(compiled("normal_mean"), folder, words)

    assert files(folder) == {"data.json", "output.csv", "p.csv", "d.csv"}
    assert rows(folder / "d.csv")[0].endswith("mean_rating,p_mean_rating,g_mean_rating")
    assert rows(folder / "p.csv")[0].startswith("name,thread_id,total_time")


def test_numbers_in_another_file_are_those_of_the_table(compiled: Compiled, folder: Path) -> None:
    words = "sample num_samples=30 data file=data.json random seed=3 output sig_figs=17 file="

    run(compiled("normal_mean"), folder, words + "table.csv")
    run(compiled("normal_mean"), folder, words + "header.csv numbers_file=header.numbers")

    assert files(folder) == {"data.json", "table.csv", "header.csv", "header.numbers"}
    header, *numbers = rows(folder / "table.csv")
    assert rows(folder / "header.csv") == [header]
    found = np.fromfile(folder / "header.numbers").reshape(30, -1)
    expected = [[float(number) for number in row.split(",")] for row in numbers]
    np.testing.assert_array_equal(found, expected)
    both = [read_variables([folder / name]) for name in ("table.csv", "header.csv")]
    assert both[0].keys() == both[1].keys()
    for name, values in both[0].items():
        np.testing.assert_array_equal(both[1][name], values)


def test_gradients_where_trajectories_start_are_not_taken_again(
    compiled: Compiled, folder: Path
) -> None:
    words = (
        "sample num_warmup=0 num_samples=200 adapt engaged=0 algorithm=hmc engine=nuts max_depth=2 "
        "stepsize=0.01 data file=data.json output profile_file=p.csv"
    )

    run(compiled("normal_mean"), folder, words)

    header, density = (row.split(",") for row in rows(folder / "p.csv"))
    gradients = int(density[header.index("autodiff_calls")])
    names, *draws = (row.split(",") for row in rows(folder / "output.csv"))
    steps = sum(int(draw[names.index("n_leapfrog__")]) for draw in draws)
    assert gradients == steps + 1  # and where the chain starts


STEP_ALONE = "adapt init_buffer=0 window=0 term_buffer=0"


def turned(
    compiled: Compiled,
    folder: Path,
    kind: str,
    metric: Any,
    mean: Any,
    *,
    angle: float = math.pi / 2,
    jitter: float = 0.3,
    rough: dict[str, Any] | None = None,
) -> pd.DataFrame:
    """Draws of two chains without trees, one after the other."""
    normal = {"inv_metric": metric, "mean": mean}
    read = {"data": CORRELATED, "metric": normal, "rough": rough or CORRELATED}
    for name, values in read.items():
        plain = {key: np.asarray(value).tolist() for key, value in values.items()}
        (folder / f"{name}.json").write_text(json.dumps(plain))
    between = "" if rough is None else "rough_data_file=rough.json "
    chains = []
    for chain in (1, 2):
        result = run(
            compiled("correlated"),
            folder,
            f"id={chain} data file=data.json random seed=1 init=1 sample num_warmup=200 "
            f"num_samples=2000 {STEP_ALONE} algorithm=hmc engine=static "
            f"int_time={angle} {between}stepsize={angle / 2 * (1 + jitter)} "
            f"stepsize_jitter={jitter} metric={kind} metric_file=metric.json output sig_figs=17",
        )
        assert result.returncode == 0, result.stderr
        chains.append(pd.read_csv(folder / "output.csv", comment="#"))
    return pd.concat(chains)


def by_chain(draws: pd.DataFrame, name: str) -> Array:
    return draws[name].to_numpy().reshape(2, -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        ("diag_e", [1.5, 3.0, 0.8]),
        ("dense_e", [[1.4, 0.9, 0.1], [0.9, 3.0, 0.0], [0.1, 0.0, 0.9]]),
    ],
)
def test_trajectories_near_a_normal_distribution_draw_from_the_exact_posterior(
    compiled: Compiled, folder: Path, kind: str, metric: list[Any]
) -> None:
    draws = turned(compiled, folder, kind, metric, [0.5, -1.0, 0.2])  # the posterior is elsewhere

    assert_agrees(by_chain(draws, "effect.1"), LOCATION[0], 1.0)
    assert_agrees(by_chain(draws, "effect.2"), LOCATION[1], 2.0)
    assert_agrees(by_chain(draws, "scale"), 1 / RATE, 1 / RATE)
    assert not draws["divergent__"].any()
    np.testing.assert_allclose(draws["int_time__"], draws["n_leapfrog__"] * draws["stepsize__"])
    assert draws["int_time__"].between(math.pi / 2 * 0.7, math.pi / 2 * 1.3).all()


@pytest.mark.slow
def test_a_quarter_of_a_turn_in_a_normal_posterior_is_an_independent_draw(
    compiled: Compiled, folder: Path
) -> None:
    covariance = np.eye(3)  # the third is the log of an exponential parameter, not quite normal
    covariance[:2, :2] = COVARIANCE

    draws = turned(compiled, folder, "dense_e", covariance, [*LOCATION, math.log(1 / RATE)])

    assert set(draws["n_leapfrog__"]) <= {2, 3}
    assert draws["accept_stat__"].mean() > 0.8
    effect = by_chain(draws, "effect.1") - LOCATION[0]
    correlation = (effect[:, 1:] * effect[:, :-1]).mean() / (effect**2).mean()
    assert abs(correlation) < 0.2  # draws are repeated where none is accepted


@pytest.mark.slow
def test_trajectories_of_random_lengths_do_not_come_back(compiled: Compiled, folder: Path) -> None:
    # Both have a sd of 1 in these units, and are correlated by 0.6: their difference has a variance
    # of 0.8 for 2, in which a trajectory of 2 radians ends opposite of where it began.
    known = [1.0, 4.0, 1.0], [*LOCATION, math.log(1 / RATE)]

    def difference(jitter: float) -> Array:
        draws = turned(compiled, folder, "diag_e", *known, angle=2.0, jitter=jitter)
        one = by_chain(draws, "effect.1") - LOCATION[0]
        return np.asarray(one - (by_chain(draws, "effect.2") - LOCATION[1]) / 2)

    assert effective(np.square(difference(0.0))) < 200  # of 4,000 draws
    assert effective(np.square(difference(0.3))) > 400
    assert_agrees(difference(0.3), 0.0, math.sqrt(0.8))


@pytest.mark.slow
def test_a_rough_density_between_the_ends_of_trajectories_changes_no_posterior(
    compiled: Compiled, folder: Path
) -> None:
    rough = {"location": LOCATION + 0.4, "covariance": COVARIANCE * 1.3, "rate": RATE * 1.2}
    known = [1.5, 3.0, 0.8], [0.5, -1.0, 0.2]

    draws = turned(compiled, folder, "diag_e", *known, rough=rough)
    same = turned(compiled, folder, "diag_e", *known, rough=CORRELATED)
    without = turned(compiled, folder, "diag_e", *known)

    assert_agrees(by_chain(draws, "effect.1"), LOCATION[0], 1.0)
    assert_agrees(by_chain(draws, "effect.2"), LOCATION[1], 2.0)
    assert_agrees(by_chain(draws, "scale"), 1 / RATE, 1 / RATE)
    x = draws[["effect.1", "effect.2"]].to_numpy() - LOCATION
    exact = -0.5 * (x @ np.linalg.inv(COVARIANCE) * x).sum(axis=1)
    exact += np.log(draws["scale"]) - RATE * draws["scale"]
    assert np.ptp(draws["lp__"] - exact) < 1e-9
    pd.testing.assert_frame_equal(same, without)
    assert not draws["effect.1"].equals(without["effect.1"])


def test_a_rough_density_has_the_same_parameters(compiled: Compiled, folder: Path) -> None:
    shapes = {"mean": [0.0] * 8, "inv_metric": [1.0] * 8}
    (folder / "metric.json").write_text(json.dumps(shapes))
    for name, states in (("data", 2), ("rough", 3)):
        tables = {
            "H": states,
            "known_table": [[0.0] * 3] * states,
            "known_weight": [[0.0]] * states,
        }
        (folder / f"{name}.json").write_text(json.dumps(ONE_ITEM | tables))
    words = (
        f"sample {STEP_ALONE} algorithm=hmc engine=static rough_data_file={{}} "
        "metric_file=metric.json data file=data.json"
    )

    other = run(compiled("item_mixture"), folder, words.format("rough.json"))
    missing = run(compiled("item_mixture"), folder, words.format("none.json"))

    assert (
        "rough_data_file=rough.json: expected 8 parameters as with data file, not 12"
        in other.stderr
    )
    assert "rough_data_file=none.json: expected a file that can be read" in missing.stderr
    assert files(folder) == {"data.json", "metric.json", "rough.json"}


def test_trajectories_without_trees_need_a_normal_distribution(
    compiled: Compiled, folder: Path
) -> None:
    (folder / "metric.json").write_text(json.dumps({"inv_metric": [1.0]}))
    turns = "algorithm=hmc engine=static metric_file=metric.json data file=data.json"

    adapting = run(compiled("normal_mean"), folder, f"sample {turns}")
    without = run(compiled("normal_mean"), folder, f"sample {STEP_ALONE} {turns}")

    assert "init_buffer=75: expected 0, because engine=static keeps its metric" in adapting.stderr
    expected = (
        "metric_file=metric.json: expected mean, for engine=static, to be a vector of 1 numbers"
    )
    assert expected in without.stderr
    assert files(folder) == {"data.json", "metric.json"}


@pytest.mark.parametrize("words", ["help", "--help", "sample help"])
def test_help_lists_the_arguments(compiled: Compiled, folder: Path, words: str) -> None:
    result = run(compiled("normal_mean"), folder, words)

    assert result.returncode == 0
    assert "num_samples=<an integer in 0..1000000000>" in result.stdout


SAMPLE = "sample data file=data.json "


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "method: expected one of sample, log_prob, diagnose"),
        ("data file=data.json", "method: expected one of sample, log_prob, diagnose"),
        ("method=mcmc", "method=mcmc: expected one of sample, log_prob, diagnose"),
        ("method=optimize", "method=optimize: expected one of sample, log_prob, diagnose"),
        ("method=laplace", "method=laplace: expected one of sample, log_prob, diagnose"),
        ("method=pathfinder", "method=pathfinder: expected one of sample, log_prob, diagnose"),
        ("method=variational", "method=variational: expected one of sample, log_prob, diagnose"),
        ("generate_quantities", "unknown argument generate_quantities: expected one of method"),
        ("sample diagnose", "method is given twice: sample and diagnose"),
        ("sample num_samples=abc", "num_samples=abc: expected an integer in 0..1000000000"),
        ("sample num_samples=", "num_samples=: expected an integer"),
        ("sample num_samples", "num_samples: expected num_samples=<an integer"),
        ("sample num_samples=-1", "num_samples=-1: expected an integer"),
        ("sample num_samples=1e3", "num_samples=1e3: expected an integer"),
        ("sample num_samples=9999999999999999999999", "num_samples=99999999999999999"),
        ("sample num_samples=5 num_samples=6", "num_samples is given twice: 5 and 6"),
        ("sample thin=0", "thin=0: expected an integer in 1.."),
        ("sample save_warmup=yes", "save_warmup=yes: expected 0 or 1"),
        ("sample adapt=1", "adapt=1: adapt takes no value"),
        ("sample adapt delta=2", "delta=2: expected a number between 0 and 1"),
        ("sample adapt delta=nan", "delta=nan: expected a number between 0 and 1"),
        ("sample adapt gamma=0", "gamma=0: expected a number > 0"),
        ("sample adapt detla=0.9", "unknown argument detla: expected one of engaged, gamma, delta"),
        ("sample delta=0.9", "delta belongs after method=sample adapt"),
        ("num_samples=5 sample", "num_samples belongs after method=sample"),
        ("sample max_depth=5", "max_depth belongs after method=sample algorithm=hmc engine=nuts"),
        ("diagnose num_samples=5", "num_samples belongs after method=sample"),
        ("sample algorithm=hmc engine=endless", "engine=endless: expected one of nuts, static"),
        (
            "sample algorithm=hmc metric=diag",
            "metric=diag: expected one of unit_e, diag_e, dense_e",
        ),
        ("sample algorithm=hmc stepsize=inf", "stepsize=inf: expected a number > 0"),
        ("sample algorithm=hmc stepsize=1e999", "stepsize=1e999: expected a number > 0"),
        ("sample num_chains=4", "num_chains=4: expected 1 (chains per process"),
        ("sample num_threads=2", "num_threads=2: expected 1 (set the variable STAN_NUM_THREADS"),
        ("sample id=-1", "id=-1: expected an integer in 0.."),
        ("sample random seed=4294967296", "seed=4294967296: expected an integer in 0..4294967295"),
        ("sample data file=", "file=: expected the name of a file"),
        ("sample output sig_figs=19", "sig_figs=19: expected an integer in 1..18"),
        (
            "sample output append=1",
            "unknown argument append: expected one of file, numbers_file, diagnostic_file",
        ),
        ("sample opencl platform=0", "unknown argument opencl"),
        (SAMPLE + "num_warmup=0", "num_warmup belongs after method=sample"),
    ],
)
def test_wrong_arguments_are_refused_by_name(
    compiled: Compiled, folder: Path, words: str, message: str
) -> None:
    result = run(compiled("normal_mean"), folder, words)

    assert result.returncode == 1
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert result.stdout == ""
    assert files(folder) == {"data.json"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("sample data file=no.json", "data file=no.json: expected a file that can be read"),
        ("sample data file=/", "data file=/: expected a file that can be read"),
        (
            "sample",
            "variable does not exist; processing stage=data initialization; variable name=N",
        ),
        (SAMPLE + "init=-1", "init=-1: expected a number >= 0 or the name of a JSON file"),
        (SAMPLE + "init=no.json", "init=no.json: expected a file that can be read"),
        (SAMPLE + "output file=no/out.csv", "output file=no/out.csv: cannot write: No such file"),
        (SAMPLE + "output file=.", "output file=.: cannot write: Is a directory"),
        (SAMPLE + "output file=/dev/full", "output file=/dev/full: cannot write: No space left"),
        (
            SAMPLE + "output file=data.json",
            "file=data.json: expected a different file from file=data.json",
        ),
        ("sample num_warmup=0 data file=data.json", "num_warmup=0: expected warmup, or engaged=0"),
        (
            "sample adapt engaged=0 save_metric=1 data file=data.json",
            "save_metric=1: with engaged=0",
        ),
        (
            "sample algorithm=hmc metric=unit_e metric_file=data.json data file=data.json",
            "metric_file=data.json: metric=unit_e has no metric to start from",
        ),
        ("sample algorithm=fixed_param adapt data file=data.json", "adapt: algorithm=fixed_param"),
        ("sample adapt engaged=0 delta=0.9 data file=data.json", "delta=0.9: with engaged=0"),
        (
            "sample adapt window=9 algorithm=hmc metric=unit_e data file=data.json",
            "window=9: metric=unit_e has no metric to adapt",
        ),
        (
            "diagnose data file=data.json output diagnostic_file=d.csv",
            "diagnostic_file: method=diagnose",
        ),
        ("diagnose data file=data.json output numbers_file=n", "numbers_file: method=diagnose"),
        (
            "sample data file=data.json output file=a.csv numbers_file=./a.csv",
            "numbers_file=./a.csv: expected a different file from file=a.csv",
        ),
        ("log_prob data file=data.json", "either constrained_params or unconstrained_params"),
        (
            "log_prob unconstrained_params=data.json data file=data.json",
            "expected params_r to be one",
        ),
        (
            "log_prob constrained_params=data.json init=1 data file=data.json",
            "init=1: method=log_prob takes the parameters from its own arguments",
        ),
        (
            "log_prob constrained_params=data.json data file=data.json",
            "constrained_params=data.json: Exception: variable does not exist",
        ),
        ("log_prob constrained_params=draws.csv data file=data.json", "draws.csv: expected a file"),
    ],
)
def test_invalid_requests_leave_no_output(
    compiled: Compiled, folder: Path, words: str, message: str
) -> None:
    result = run(compiled("normal_mean"), folder, words)

    assert result.returncode == 1
    assert message in result.stderr
    assert files(folder) == {"data.json"}
    assert (folder / "data.json").read_text() == json.dumps(NORMAL)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (1, "data file=data.json: Exception: the data were rejected"),
        (2, "method=sample: Initialization failed."),
        (3, "method=sample: Posterior is improper. Please check your model."),
        (4, "method=sample: Exception: a draw went wrong"),
        (9, "place is 9, but must be less than or equal to 4"),
    ],
)
def test_a_program_that_fails_leaves_no_output(
    compiled: Compiled, tmp_path: Path, place: int, message: str
) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"place": place, "N": 1}))
    (tmp_path / "output.csv").write_text("the output of an earlier run")

    result = run(compiled("failing"), tmp_path, SAMPLE)

    assert result.returncode == 1
    assert message in result.stderr
    assert files(tmp_path) == {"data.json"}


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (-1, "dimension size expression=N; expression value=-1"),
        (2**31 - 1, "not enough memory for the requested sizes"),
        (2**31, "int variable contained non-int values"),
    ],
)
def test_invalid_sizes_are_named(
    compiled: Compiled, tmp_path: Path, size: int, message: str
) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"place": 0, "N": size}))

    result = run(compiled("failing"), tmp_path, SAMPLE)

    assert result.returncode == 1
    assert message in result.stderr
    assert files(tmp_path) == {"data.json"}


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_leaves_nothing_under_the_name_of_its_output(
    compiled: Compiled, folder: Path, stop: signal.Signals
) -> None:
    words = "sample num_samples=1000000000 thin=1000000 data file=data.json output file=out.csv"
    command = [str(compiled("normal_mean")), *words.split()]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()

    process.send_signal(stop)

    assert process.wait(timeout=120) == -stop
    process.stdout.close()
    assert files(folder) == {"data.json", "out.csv.partial"}


DEEP = "[" * 1_000_000
ROW = '{"N": 2, "sd": 1, "prior_sd": 1, "y": '


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, byte 0: The document is empty."),
        (" \n", "The document is empty."),
        ("[1, 2]", "expected an object {...} of variables"),
        ("3", "expected an object {...} of variables"),
        ('"N"', "expected an object {...} of variables"),
        ("null", "expected an object {...} of variables"),
        ("{", "Missing a name for object member."),
        ('{"N"', "variable N: Missing a colon"),
        ('{"N": 2', "variable N: Missing a comma or '}'"),
        ('{"N": 2,}', "variable N: Missing a name for object member."),
        ('{"N": 2} {}', "must not be followed by other values"),
        ('{"N": 2}\0', "variable N: there is more after the object"),
        ('{"N": 2, "N": 2}', "variable N: it occurs twice"),
        ('{"N": 1e999}', "variable N: Number too big"),
        ('{"N": 0x10}', "variable N: Missing a comma or '}'"),
        ('{"N": --2}', "variable N: Invalid value."),
        ('{"N": "\ud800"}', "variable N: "),
        ('{"N": 2.5}', "int variable contained non-int values"),
        ('{"N": 3000000000}', "int variable contained non-int values"),
        ('{"N": 99999999999999999999999999}', "int variable contained non-int values"),
        ('{"N": NaN}', "int variable contained non-int values"),
        ('{"N": null}', "variable N: null is not a number"),
        ('{"N": true}', "variable N: true and false are not numbers"),
        ('{"N": "two"}', "variable N: strings are not numbers"),
        ('{"N": {"a": [1, {"b": 2}]}}', "variable N: tuples are not supported"),
        ('{"N": [2]}', "variable name=N; dims declared=(); dims found=(1)"),
        (ROW + "[1]}", "variable name=y; position=0; dims declared=(2); dims found=(1)"),
        (ROW + "[[1, 2]]}", "variable name=y; dims declared=(2); dims found=(1,2)"),
        (ROW + "[1, [2]]}", "variable y: expected a rectangular array"),
        (ROW + "[[1], 2]}", "variable y: expected a rectangular array"),
        (ROW + "[[1], [2, 3]]}", "variable y: expected a rectangular array"),
        (ROW + "[[], [[]]]}", "variable y: expected a rectangular array"),
        (ROW + '[1, "two"]}', "variable y: strings are not numbers"),
        (ROW + "[1, 2", "variable y: Missing a comma or ']'"),
        (ROW + "[1, 2]", "variable y: Missing a comma or '}'"),
        (ROW + DEEP + "1" + "]" * len(DEEP) + "}", "variable y: arrays are nested too deep"),
        (ROW + DEEP, "variable y: "),
        (ROW + '{"a":' * 100_000, "variable y: "),
        ('{"N": -1, "sd": 1, "prior_sd": 1, "y": []}', "N is -1, but must be greater than"),
        ('{"N": 0, "sd": -1, "prior_sd": 1, "y": []}', "sd is -1, but must be greater than"),
        ('{"N": 0, "sd": NaN, "prior_sd": 1, "y": []}', "sd is nan, but must be greater than"),
        ('{"N": 2147483647, "sd": 1, "prior_sd": 1, "y": []}', "dims declared=(2147483647)"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_malformed_json_is_located_in_the_message(
    compiled: Compiled, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "data.json").write_bytes(text.encode("utf-8", "surrogatepass"))

    result = run(compiled("normal_mean"), tmp_path, SAMPLE)

    assert result.returncode == 1
    assert result.stderr.startswith("Error: data file=data.json: ")
    assert message in result.stderr
    assert files(tmp_path) == {"data.json"}


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("NaN", "nan"),
        ('"Inf"', "inf"),
        ("-Infinity", "-inf"),
        ('"-Inf"', "-inf"),
        ("1e-320", "9.99989e-321"),
    ],
)
def test_infinite_missing_and_subnormal_numbers_are_read(
    compiled: Compiled, tmp_path: Path, number: str, shown: str
) -> None:
    data = json.dumps(ECHOED | {"number": 0}).replace('"number": 0', f'"number": {number}')
    (tmp_path / "data.json").write_text(data)

    run(compiled("echo"), tmp_path, SAMPLE + "output sig_figs=6")

    assert rows(tmp_path / "output.csv")[1].split(",")[3] == shown


@pytest.mark.parametrize("empty", [{}, {"none": []}, {"none": [[], []]}])
def test_empty_variable_may_have_any_shape_or_be_omitted(
    compiled: Compiled, folder: Path, empty: dict[str, Any]
) -> None:
    (folder / "data.json").write_text(json.dumps(ECHOED | empty))

    assert run(compiled("echo"), folder, SAMPLE).returncode == 0


def test_data_may_contain_unused_variables(compiled: Compiled, folder: Path) -> None:
    data = NORMAL | {"note": "from the pilot", "pairs": [[1], [2, 3]], "empty": None}
    (folder / "data.json").write_text(json.dumps(data))

    assert run(compiled("normal_mean"), folder, SAMPLE).returncode == 0


@pytest.mark.parametrize(
    ("metric", "content", "message"),
    [
        ("diag_e", '{"inv_metric": [1, 1]}', "expected inv_metric to be a vector of 3 positive"),
        (
            "diag_e",
            '{"inv_metric": [1, 1, -1]}',
            "expected inv_metric to be a vector of 3 positive",
        ),
        (
            "diag_e",
            '{"inv_metric": [1, 1, NaN]}',
            "expected inv_metric to be a vector of 3 positive",
        ),
        ("diag_e", "{}", "expected inv_metric to be a vector of 3 positive"),
        ("dense_e", '{"inv_metric": [1, 1, 1]}', "to be a positive definite matrix of 3 x 3"),
        (
            "dense_e",
            '{"inv_metric": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}',
            "to be a positive definite matrix of 3 x 3",
        ),
        ("diag_e", '{"inv_metric": ', "metric_file=metric.json: not a JSON file of variables"),
    ],
)
def test_an_invalid_metric_is_named(
    compiled: Compiled, tmp_path: Path, metric: str, content: str, message: str
) -> None:
    (tmp_path / "data.json").write_text(
        json.dumps(CORRELATED | {"location": LOCATION.tolist(), "covariance": COVARIANCE.tolist()})
    )
    (tmp_path / "metric.json").write_text(content)
    words = f"sample algorithm=hmc metric={metric} metric_file=metric.json data file=data.json"

    result = run(compiled("correlated"), tmp_path, words)

    assert result.returncode == 1
    assert "metric_file=metric.json: " in result.stderr
    assert message in result.stderr
    assert files(tmp_path) == {"data.json", "metric.json"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"mean_rating": [1, 2]}', "variable name=mean_rating"),
        (
            '{"mean_rating": "one"}',
            "init=start.json: variable mean_rating: strings are not numbers",
        ),
        ('{"mean_rating": NaN}', "Initialization failed."),
        ('{"mean_rating": 1', "init=start.json: not a JSON file of variables"),
    ],
)
def test_an_invalid_initial_value_is_named(
    compiled: Compiled, folder: Path, content: str, message: str
) -> None:
    (folder / "start.json").write_text(content)

    result = run(compiled("normal_mean"), folder, SAMPLE + "init=start.json")

    assert result.returncode == 1
    assert message in result.stderr
    assert files(folder) == {"data.json", "start.json"}


def test_many_ratings_are_read(compiled: Compiled, folder: Path) -> None:
    ratings = np.random.default_rng(1).normal(size=100_000).tolist()
    (folder / "data.json").write_text(json.dumps(NORMAL | {"N": len(ratings), "y": ratings}))
    (folder / "point.json").write_text('{"params_r": [0]}')

    run(
        compiled("normal_mean"),
        folder,
        "log_prob unconstrained_params=point.json data file=data.json",
    )

    gradient = float(cells(folder / "output.csv")[1])
    assert gradient == pytest.approx(sum(ratings) / NORMAL["sd"] ** 2, rel=1e-6)
