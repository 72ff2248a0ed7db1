"""Small random designs, dense covariance matrices and numerical gradients for tests."""

from __future__ import annotations

import math
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import cmdstanpy
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.inference import stan
from reliabayes.inference.problem import stan_data
from reliabayes.likelihoods.gaussian_one_pool import Deviations
from reliabayes.ratings import Ratings
from reliabayes.sampling.plan import for_program

STEP = 1e-3  # of finite differences


class LongTable(NamedTuple):
    """Ratings in long form; each row and each column has at least one rating."""

    row: Codes
    column: Codes
    ratings: Array

    @classmethod
    def simulated(cls, *, items: int, raters: int, ratings: int, seed: int) -> LongTable:
        """Simulate an unbalanced, incomplete design with replicates by drawing random cells."""
        rng = np.random.default_rng(seed)
        n = max(ratings, items, raters)
        item = np.append(np.arange(items), rng.integers(0, items, n - items))
        rater = np.append(np.arange(raters), rng.integers(0, raters, n - raters))
        effects = rng.normal(0, 1, items)[item] + rng.normal(0, 0.7, raters)[rater]
        codes = (item.astype(np.int32), rng.permutation(rater).astype(np.int32))
        return cls(*codes, effects + rng.normal(0, 1, n))

    def part(self, rows: NDArray[np.bool_]) -> LongTable:
        """Select some of the ratings and renumber the rows."""
        _, row = np.unique(self.row[rows], return_inverse=True)
        return LongTable(row.astype(np.int32), self.column[rows], self.ratings[rows])


def long_tables() -> st.SearchStrategy[LongTable]:
    """Designs of 2 to 8 rows and columns with up to 40 ratings."""
    return st.builds(
        LongTable.simulated,
        items=st.integers(2, 8),
        raters=st.integers(2, 8),
        ratings=st.integers(3, 40),
        seed=st.integers(0, 2**16),
    )


def dense_covariance(table: LongTable, sd: Deviations) -> Array:
    """Covariance (N, N) of the ratings around their mean."""
    same_row = table.row[:, None] == table.row
    same_column = table.column[:, None] == table.column
    noise = np.eye(len(table.ratings))
    return np.asarray(sd.row**2 * same_row + sd.column**2 * same_column + sd.residual**2 * noise)


def normal_log_density(x: Array, mean: Array, covariance: Array) -> float:
    """Log density of a multivariate normal distribution, ten times faster than by scipy."""
    factor = np.linalg.cholesky(covariance)
    score = np.linalg.solve(factor, x - mean)
    constant = len(x) * math.log(2 * math.pi)
    return float(-0.5 * (constant + score @ score) - np.log(np.diag(factor)).sum())


class PooledTable(NamedTuple):
    """Ratings in long form by raters of several pools; each rater has at least one rating."""

    item: Codes
    rater: Codes
    ratings: Array
    pool: Codes

    @classmethod
    def simulated(cls, *, items: int, raters: int, pools: int, ratings: int, seed: int) -> Self:
        """Simulate as `LongTable`, with ``raters`` per pool; the last two items have one pool."""
        table = LongTable.simulated(items=items, raters=raters * pools, ratings=ratings, seed=seed)
        pool = np.repeat(np.arange(pools, dtype=np.int32), raters)
        moved = table.row.copy()
        moved[(moved == items - 1) & (pool[table.column] > 0)] = 0
        moved[(moved == items - 2) & (pool[table.column] < 1)] = 0
        _, item = np.unique(moved, return_inverse=True)
        return cls(item.astype(np.int32), table.column, table.ratings, pool)

    def part(self, rows: NDArray[np.bool_]) -> Self:
        """Select some of the ratings and renumber the items."""
        _, item = np.unique(self.item[rows], return_inverse=True)
        return self._replace(
            item=item.astype(np.int32), rater=self.rater[rows], ratings=self.ratings[rows]
        )

    def covariance(self, item: Array, rater: Array, residual: Array) -> Array:
        """Covariance (N, N) of the ratings around the means of their pools.

        ``item`` is the covariance (G, G) of an item's effects; ``rater`` and ``residual`` are
        standard deviations (G,).
        """
        pool = self.pool[self.rater]
        same_item = self.item[:, None] == self.item
        same_rater = self.rater[:, None] == self.rater
        by_item = same_item * item[np.ix_(pool, pool)]
        return np.asarray(by_item + same_rater * rater[pool] ** 2 + np.diag(residual[pool] ** 2))


def pooled_tables() -> st.SearchStrategy[PooledTable]:
    """Designs of 2 or 3 pools with 1 to 3 raters each, 4 to 8 items and up to 40 ratings."""
    return st.builds(
        PooledTable.simulated,
        items=st.integers(4, 8),
        raters=st.integers(1, 3),
        pools=st.integers(2, 3),
        ratings=st.integers(6, 40),
        seed=st.integers(0, 2**16),
    )


def gradients(model: Any, ratings: Ratings, seed: int) -> tuple[Array, Array]:
    """Gradients near the mode on the unconstrained scale: by Stan, and by finite differences."""
    problem = model.problem(ratings)
    program = stan.folder() / model.program(problem)
    start = model.start(problem)
    data = stan_data(problem, start.centring)
    rng = np.random.default_rng(seed)
    free = {name: x + rng.normal(0, 0.5, np.shape(x)) for name, x in start.mode.items()}
    at = np.concatenate([np.ravel(part) for part in free.values()])
    points = np.vstack([at, at + four_point_moves(len(at))])

    table = log_densities(program, data, unconstrained_params={"params_r": points})
    there = for_program(model, start.constrain(free), start.centring)
    constrained = log_densities(program, data, constrained_params=there)

    values = table["lp__"].to_numpy()
    assert values[0] == pytest.approx(constrained["lp__"].iloc[0])  # the same point for both
    return table.iloc[0, 1:].to_numpy(float), four_point_slopes(values[1:])


def log_densities(
    program: Path, data: Mapping[str, Any], *, jacobian: bool = True, **points: Mapping[str, Any]
) -> pd.DataFrame:
    """Log densities ``lp__`` and their gradients at one or several points, a row for each."""
    ((argument, values),) = points.items()
    with tempfile.TemporaryDirectory() as folder:
        cmdstanpy.write_stan_json(f"{folder}/data.json", dict(data))
        cmdstanpy.write_stan_json(f"{folder}/points.json", dict(values))
        words = f"log_prob {argument}=points.json jacobian={int(jacobian)} data file=data.json"
        command = [str(program), *words.split(), "output", "sig_figs=17"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return pd.read_csv(f"{folder}/output.csv", comment="#")


def slopes(function: Callable[[Array], float], at: Array, step: float = STEP) -> Array:
    """Gradient by four-point central differences, with an error of the fourth order in the step."""
    moves = four_point_moves(len(at), step)
    return four_point_slopes([function(at + move) for move in moves], step)


def four_point_moves(size: int, step: float = STEP) -> Array:
    """Moves (4 P, P) of a point in each of its P directions."""
    return np.concatenate([factor * step * np.eye(size) for factor in (1, -1, 2, -2)])


def four_point_slopes(values: ArrayLike, step: float = STEP) -> Array:
    """Gradient (P,) from the values (4 P,) of a function after these moves."""
    ahead, behind, far_ahead, far_behind = np.reshape(values, (4, -1))
    return np.asarray((8 * (ahead - behind) - (far_ahead - far_behind)) / (12 * step))
