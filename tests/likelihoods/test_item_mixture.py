"""Item mixtures in Stan and NumPy give the same density as an explicit sum over hidden states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cmdstanpy import CmdStanModel
from hypothesis import given, settings
from hypothesis import strategies as st

from reliabayes.arrays import Array, Codes
from reliabayes.likelihoods.item_mixture import ItemMixture
from tests.designs import slopes

Compiled = Callable[[str], Path]


class Items(NamedTuple):
    """Ratings in long form, each with its item and cell; every item has at least one rating."""

    item: Codes
    cell: Codes
    kind: Codes
    n_cells: int

    @classmethod
    def simulated(cls, *, items: int, ratings: int, cells: int, kinds: int, seed: int) -> Items:
        """Assign ratings to random cells; an item often has several ratings in one cell."""
        rng = np.random.default_rng(seed)
        item = np.append(np.arange(items), rng.integers(0, items, ratings))
        cell = rng.integers(0, cells, items + ratings)
        kind = rng.integers(0, kinds, items)
        return cls(item.astype(np.int32), cell.astype(np.int32), kind.astype(np.int32), cells)

    @property
    def mixture(self) -> ItemMixture:
        return ItemMixture.of(self.item, self.cell, self.n_cells, self.kind)

    def joint(self, table: Array, log_weight: Array) -> Array:
        """Joint log-probability (I, H) of the state and the ratings of each item, item by item."""
        return np.array(
            [
                log_weight[:, kind] + sum(table[:, cell] for cell in self.cell[self.item == item])
                for item, kind in enumerate(self.kind)
            ]
        )

    def log_density(self, table: Array, log_weight: Array) -> float:
        return float(np.logaddexp.reduce(self.joint(table, log_weight), axis=1).sum())


class Density(NamedTuple):
    value: float
    by_table: Array
    by_weight: Array


designs = st.builds(
    Items.simulated,
    items=st.integers(1, 8),
    ratings=st.integers(0, 30),
    cells=st.integers(1, 5),
    kinds=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
seeds = st.integers(0, 2**16)
every_number_of_states = pytest.mark.parametrize("states", [1, 2, 3, 4, 5, 6, 8])
FREE_OR_CONSTANT = [(table, weight) for table in (True, False) for weight in (True, False)]


@pytest.fixture(scope="module")
def program(compiled: Compiled) -> CmdStanModel:
    return CmdStanModel(exe_file=compiled("item_mixture"))


@every_number_of_states
@settings(max_examples=6)
@given(items=designs, seed=seeds)
def test_density_and_gradient_equal_those_of_an_explicit_sum(
    program: CmdStanModel, states: int, items: Items, seed: int
) -> None:
    table, log_weight = log_probabilities(items, states, seed)

    density = evaluate(program, items.mixture, table, log_weight)

    assert_equals_explicit_sum(density, items, table, log_weight)


@every_number_of_states
@settings(max_examples=3)
@given(items=designs, seed=seeds)
def test_states_with_an_impossible_rating_are_excluded(
    program: CmdStanModel, states: int, items: Items, seed: int
) -> None:
    table, log_weight = log_probabilities(items, states, seed)
    rng = np.random.default_rng(seed)
    table[1:][rng.random((states - 1, items.n_cells)) < 0.3] = -np.inf

    density = evaluate(program, items.mixture, table, log_weight)

    assert_equals_explicit_sum(density, items, table, log_weight)


@every_number_of_states
@settings(max_examples=3)
@given(items=designs, seed=seeds)
def test_items_of_a_kind_only_have_the_states_of_that_kind(
    program: CmdStanModel, states: int, items: Items, seed: int
) -> None:
    table, log_weight = log_probabilities(items, states, seed)
    state_of_kind = np.arange(log_weight.shape[1] - 1) % states
    log_weight[:, 1:][np.arange(states)[:, None] != state_of_kind] = -np.inf

    density = evaluate(program, items.mixture, table, log_weight)

    assert_equals_explicit_sum(density, items, table, log_weight)


@pytest.mark.parametrize("shift", [0, 400, -400])
@settings(max_examples=6)
@given(items=designs, states=st.integers(1, 6), seed=seeds)
def test_densities_outside_the_range_of_doubles_are_summed(
    program: CmdStanModel, shift: float, items: Items, states: int, seed: int
) -> None:
    table, log_weight = log_probabilities(items, states, seed)
    table = 300 * table + shift
    mixture = items.mixture

    density = evaluate(program, mixture, table, log_weight)

    by_table, by_weight, _ = mixture.expected(mixture.posterior(table, log_weight)[1])
    assert density.value == pytest.approx(items.log_density(table, log_weight), rel=1e-13)
    assert density.by_table == pytest.approx(by_table, rel=1e-9, abs=1e-12)
    assert density.by_weight.sum(axis=1) == pytest.approx(by_weight, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("ratings", [50, 51])  # the most whose probabilities are multiplied
@pytest.mark.parametrize("states", [2, 6])
def test_equal_ratings_of_an_item_count_as_often_as_they_are(
    program: CmdStanModel, states: int, ratings: int
) -> None:
    cell = np.sqrt(np.arange(ratings)).astype(np.int32)  # 1, 3, 5 and more ratings in each
    item = np.zeros(ratings, np.int32)
    items = Items(item, cell, kind=np.zeros(1, np.int32), n_cells=int(cell.max()) + 1)
    table, log_weight = log_probabilities(items, states, seed=5)

    density = evaluate(program, items.mixture, table, log_weight)

    assert_equals_explicit_sum(density, items, table, log_weight)


@pytest.mark.parametrize(("table_free", "weight_free"), FREE_OR_CONSTANT)
@pytest.mark.parametrize("states", [2, 6])
def test_constants_have_zero_gradient(
    program: CmdStanModel, states: int, table_free: bool, weight_free: bool
) -> None:
    items = Items.simulated(items=5, ratings=20, cells=4, kinds=2, seed=1)
    table, log_weight = log_probabilities(items, states, seed=1)
    both = evaluate(program, items.mixture, table, log_weight)

    some = evaluate(program, items.mixture, table, log_weight, table_free, weight_free)

    assert some.value == both.value
    np.testing.assert_array_equal(some.by_table, table_free * both.by_table)
    np.testing.assert_array_equal(some.by_weight, weight_free * both.by_weight)


@pytest.mark.parametrize("states", [2, 6])
def test_thousands_of_ratings_of_an_item_do_not_underflow(
    program: CmdStanModel, states: int
) -> None:
    table = np.full((states, 2), -3.0)
    table[1] -= 1e-3
    items = Items(
        item=np.repeat(np.arange(2, dtype=np.int32), 10_000),
        cell=np.tile(np.array([0, 1], np.int32), 10_000),
        kind=np.zeros(2, np.int32),
        n_cells=2,
    )
    log_weight = np.full((states, 1), -np.log(states))

    density = evaluate(program, items.mixture, table, log_weight)
    in_numpy, state = items.mixture.posterior(table, log_weight)

    scale = (states - 1 + np.exp(-10)) / states  # the second state is exp(-10) times as likely
    assert density.value == pytest.approx(2 * (-30_000 + np.log(scale)), rel=1e-14)
    assert in_numpy.tolist() == pytest.approx([density.value / 2], rel=1e-14)
    by_state = np.append(1 / (states * scale), np.exp(-10) / (states * scale))
    assert state[0, :2] == pytest.approx(by_state, rel=1e-9)
    assert density.by_table[:2, 0] == pytest.approx(10_000 * by_state, rel=1e-9)


@pytest.mark.parametrize("states", [1, 2, 6])
def test_item_that_is_impossible_in_every_state_has_probability_zero(
    program: CmdStanModel, states: int
) -> None:
    items = Items.simulated(items=5, ratings=20, cells=4, kinds=1, seed=2)
    table, log_weight = log_probabilities(items, states, seed=2)
    table[:, items.cell[0]] = -np.inf

    density = evaluate(program, items.mixture, table, log_weight)
    in_numpy, state = items.mixture.posterior(table, log_weight)

    assert density.value == -np.inf
    assert not np.isnan(density.by_table).any()
    assert not np.isnan(density.by_weight).any()
    assert in_numpy[items.mixture.distinct[0]] == -np.inf
    assert not np.isnan(state).any()


@pytest.mark.parametrize("states", [2, 6])
def test_distinct_items_are_weighted_by_their_multiplicity(
    program: CmdStanModel, states: int
) -> None:
    items = Items.simulated(items=4, ratings=20, cells=4, kinds=2, seed=3)
    table, log_weight = log_probabilities(items, states, seed=3)
    single = items.mixture
    copies = np.repeat(np.arange(4), [3, 1, 2, 5])
    weighted = replace(single, multiplicity=np.array([3.0, 1.0, 2.0, 5.0]))
    copied = ItemMixture(
        single.counts[copies], np.ones(11), single.kind[copies], np.arange(11, dtype=np.int32)
    )

    by_weight, by_copy = (evaluate(program, m, table, log_weight) for m in (weighted, copied))

    assert by_weight.value == pytest.approx(by_copy.value, rel=1e-13)
    assert by_weight.by_table == pytest.approx(by_copy.by_table, rel=1e-12)
    assert by_weight.by_weight == pytest.approx(by_copy.by_weight, rel=1e-12)


@given(items=designs, states=st.integers(1, 6), seed=seeds)
def test_posterior_of_each_item_uses_its_own_ratings(items: Items, states: int, seed: int) -> None:
    table, log_weight = log_probabilities(items, states, seed)
    mixture = items.mixture

    log_probability, state = mixture.posterior(table, log_weight)

    joint = items.joint(table, log_weight)
    marginal = np.logaddexp.reduce(joint, axis=1)
    assert log_probability[mixture.distinct] == pytest.approx(marginal, rel=1e-12)
    assert state[mixture.distinct] == pytest.approx(np.exp(joint - marginal[:, None]), rel=1e-10)
    assert mixture.multiplicity @ log_probability == pytest.approx(marginal.sum(), rel=1e-12)


def test_probabilities_of_many_items_are_summed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    items = Items.simulated(items=50, ratings=100, cells=6, kinds=2, seed=1)
    mixture, probabilities = items.mixture, log_probabilities(items, 4, 1)
    whole, _ = mixture.posterior(*probabilities)

    monkeypatch.setattr("reliabayes.likelihoods.item_mixture.IN_MEMORY", 30)

    assert mixture.log_probability(*probabilities).tolist() == whole.tolist()


@given(items=designs, states=st.integers(1, 6), seed=seeds)
def test_expected_counts_sum_over_all_ratings_and_items(
    items: Items, states: int, seed: int
) -> None:
    mixture = items.mixture
    _, state = mixture.posterior(*log_probabilities(items, states, seed))

    ratings_by_cell, items_by_state, _ = mixture.expected(state)

    of_item = state[mixture.distinct]
    counted = np.zeros((states, items.n_cells))
    for item, cell in zip(items.item, items.cell, strict=True):
        counted[:, cell] += of_item[item]
    assert ratings_by_cell == pytest.approx(counted, rel=1e-12)
    assert items_by_state == pytest.approx(of_item.sum(axis=0), rel=1e-12)
    assert mixture.n_ratings == len(items.item)


@given(items=designs, seed=seeds)
def test_order_of_ratings_does_not_matter(items: Items, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(items.item))
    shuffled = items._replace(item=items.item[order], cell=items.cell[order])

    one, other = (table.mixture for table in (items, shuffled))

    np.testing.assert_equal(other.stan_data().to_dict(), one.stan_data().to_dict())
    np.testing.assert_array_equal(other.distinct, one.distinct)


@given(items=designs)
def test_items_of_the_same_kind_and_ratings_are_stored_once(items: Items) -> None:
    mixture = items.mixture

    counts = np.zeros((len(items.kind), items.n_cells))
    np.add.at(counts, (items.item, items.cell), 1)
    described = np.column_stack([items.kind, counts])
    assert len(mixture.multiplicity) == len(np.unique(described, axis=0))
    stored = np.column_stack([mixture.kind, mixture.counts.toarray()])
    np.testing.assert_array_equal(stored[mixture.distinct], described)
    np.testing.assert_array_equal(mixture.multiplicity, np.bincount(mixture.distinct))


def test_thousands_of_binary_items_reduce_to_32_distinct_items() -> None:
    category = np.random.default_rng(4).integers(0, 2, (3869, 5))
    item, rater = np.indices(category.shape, np.int32)
    cells = (category * 5 + rater).ravel().astype(np.int32)

    mixture = ItemMixture.of(item.ravel(), cells, 10, np.zeros(3869, np.int32))

    assert len(mixture.multiplicity) == 2**5
    assert mixture.multiplicity.sum() == 3869


@pytest.mark.parametrize(
    ("cells", "kind", "distinct"),
    [
        ([[0, 1], [1, 0]], [0, 0], 1),
        ([[0, 1], [0, 2]], [0, 0], 2),
        ([[0, 1], [0, 1, 1]], [0, 0], 2),
        ([[0, 1], [0, 1]], [0, 1], 2),
    ],
    ids=["nothing", "a cell", "a count", "the kind"],
)
def test_items_are_distinct_if_they_differ_in(
    cells: list[list[int]], kind: list[int], distinct: int
) -> None:
    item = np.repeat([0, 1], [len(cells[0]), len(cells[1])]).astype(np.int32)

    mixture = ItemMixture.of(
        item, np.concatenate(cells).astype(np.int32), 3, np.array(kind, np.int32)
    )

    assert len(mixture.multiplicity) == distinct


def log_probabilities(items: Items, states: int, seed: int) -> tuple[Array, Array]:
    """Random table (H, V) and log-weights (H, W), neither of them normalised."""
    rng = np.random.default_rng(seed)
    kinds = int(items.kind.max()) + 1
    return rng.normal(-1, 1, (states, items.n_cells)), rng.normal(-1, 1, (states, kinds))


def evaluate(
    program: CmdStanModel,
    mixture: ItemMixture,
    table: Array,
    log_weight: Array,
    table_free: bool = True,
    weight_free: bool = True,
) -> Density:
    """Density and gradient by Stan; its parameters are offsets from constants, here 0."""
    data: dict[str, Any] = {
        **mixture.stan_data().to_dict(),
        "K": 2,  # unused
        "H": len(table),
        "W": log_weight.shape[1],
        "known_table": table,
        "known_weight": log_weight,
        "table_free": int(table_free),
        "weight_free": int(weight_free),
    }
    shifts = {"table": np.zeros_like(table), "log_weight": np.zeros_like(log_weight)}
    found = program.log_prob(shifts, data, sig_figs=18).to_numpy(float)[0]
    value, by_table, by_weight = np.split(found, [1, 1 + table.size])
    return Density(
        float(value[0]),
        by_table.reshape(table.shape, order="F"),
        by_weight.reshape(log_weight.shape, order="F"),
    )


def assert_equals_explicit_sum(
    density: Density, items: Items, table: Array, log_weight: Array
) -> None:
    """The value agrees up to rounding, the gradient up to the error of finite differences.

    Their rounding error is 1e-16 of a density of several hundred, divided by the step. Their
    truncation error, a fifth derivative times the fourth power of the step, stays below 30^5 times
    1e-17 with 30 ratings in a cell.
    """

    def explicit_sum(shift: Array) -> float:
        shift_of_table, shift_of_weight = np.split(shift, [table.size])
        return items.log_density(
            table + shift_of_table.reshape(table.shape),
            log_weight + shift_of_weight.reshape(log_weight.shape),
        )

    gradient = np.concatenate([density.by_table.ravel(), density.by_weight.ravel()])
    at = np.zeros(table.size + log_weight.size)
    assert density.value == pytest.approx(explicit_sum(at), rel=1e-13, abs=1e-13)
    assert gradient == pytest.approx(slopes(explicit_sum, at, step=1e-4), abs=1e-8)
