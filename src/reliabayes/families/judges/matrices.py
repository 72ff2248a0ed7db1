"""Probabilities of answers, of the levels of errors that the program samples.

Dimensions of several draws come first, where a function takes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import log_softmax, logsumexp

from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.inference.em import Point


@dataclass(frozen=True, eq=False)
class Matrices:
    """Log-probabilities of categories, of one draw or of several.

    Attributes
    ----------
    prevalence : array of shape (..., G, K)
        Of the true categories, by group.
    people : array of shape (..., P, K, K)
        Of a person's ratings, by true category.
    misreading : array of shape (..., F, M, K, K)
        Of what a family reads, by true category, in each group of items that these differ between.
    own : array of shape (..., A, K, K)
        Of a judge's lasting readings, by what its family reads.
    slip : array of shape (..., B, K, K)
        Of a run, by the judge's lasting reading.
    """

    prevalence: Array
    people: Array
    misreading: Array
    own: Array
    slip: Array

    @property
    def log_weight(self) -> Array:
        """Log-weights (..., K, W) of true categories by kind: groups, then known ones by group."""
        k = self.prevalence.shape[-1]
        unknown = np.swapaxes(self.prevalence, -1, -2)
        same = np.where(np.eye(k, dtype=bool), 0.0, -np.inf)
        known = self.prevalence[..., :, None] + same
        known = np.moveaxis(known, -2, -3)  # by true category that an item has, then known ones
        known = np.swapaxes(known, -3, -2).reshape(*self.prevalence.shape[:-2], -1, k)
        return np.concatenate([unknown, np.swapaxes(known, -1, -2)], axis=-1)


def matrices(point: Point, problem: PanelProblem) -> Matrices:
    """Log-probabilities at a point, or at points (...) of several draws."""
    of_people, of_families, of_judges = _populations(point, problem)
    family = problem.answers.family
    own_family, run_family = (
        family[problem.answers.own_of >= 0],
        family[problem.answers.slip_of >= 0],
    )
    misread = np.swapaxes(point["misreading_log_odds"], -3, -2)  # families first
    return Matrices(
        prevalence=log_softmax(point["prevalence_log_odds"] @ problem.contrasts.T, axis=-1),
        people=log_answers(point["people_log_odds"], of_people),
        misreading=log_answers(misread, of_families),
        own=log_answers(point["own_log_odds"], of_judges[..., own_family, :, :]),
        slip=log_answers(point["slip_log_odds"], of_judges[..., run_family, :, :]),
    )


def _populations(point: Point, problem: PanelProblem) -> tuple[Array, Array, Array]:
    """Log-odds (..., K, K) that errors have besides their levels: for people, families, judges."""
    k, families = problem.n_categories, problem.size("family")
    if problem.is_free:
        none = np.zeros((1, k, k))
        return none, none[:, None], np.zeros((families, k, k))
    log = destinations(point, problem)
    return log[..., families:, :, :], log[..., :families, None, :, :], log[..., :families, :, :]


def destinations(point: Point, problem: PanelProblem) -> Array:
    """Log-probabilities (..., Y, K, K) of the category of an error, by the right one."""
    popular = point["popularity"] @ problem.contrasts.T
    steps = error_steps(problem.n_categories)
    decay = np.exp(point["log_decay"]) if problem.is_ordered else np.zeros(popular.shape[:-1])
    log = popular[..., None, :] - decay[..., None, None] * steps
    log = np.where(np.eye(problem.n_categories, dtype=bool), -np.inf, log)
    found: Array = log - logsumexp(log, axis=-1, keepdims=True)
    return found


def error_steps(n_categories: int) -> Array:
    """Steps (K, K) between a category and another, beyond the first."""
    every = np.arange(n_categories)
    return np.asarray(np.maximum(np.abs(every[:, None] - every) - 1.0, 0.0))


def log_answers(level: Array, destination: Array) -> Array:
    """Log-probabilities (..., K, K) of answers, by levels (..., L) of errors.

    Parameters
    ----------
    level : array of shape (..., L)
        Log odds of each error against the right category; or, if there are K, of all errors from
        a category.
    destination : array of shape (..., K, K)
        Log-probabilities of the category of an error; any number on the diagonal.
    """
    k, size = destination.shape[-1], level.shape[-1]
    same = np.eye(k, dtype=bool)
    if size == k * (k - 1):
        odds = np.zeros((*level.shape[:-1], k, k))
        odds[..., ~same] = level
    else:
        odds = np.where(same, 0.0, level[..., :, None] + destination)
    return np.asarray(log_softmax(odds, axis=-1))


def log_table(found: Matrices, problem: PanelProblem) -> Array:
    """Log-probabilities (..., K, V) of cells, by true category."""
    return families_read(found, problem).table


@dataclass(frozen=True, eq=False)
class FamiliesRead:
    """What the families' entries say, step by step; see `log_table`.

    Attributes
    ----------
    lasting : array of shape (..., K, S)
        Log-probability of each reading, by the judge's lasting reading of the item.
    reading : array of shape (..., K, S)
        The same by what the family reads.
    answers : array of shape (..., K, E)
        Probability of each entry by what the family reads; the largest is 1.
    of_truth : array of shape (..., K, E)
        The same by true category.
    table : array of shape (..., K, V)
        Log-probabilities of all cells by true category.
    """

    lasting: Array
    reading: Array
    answers: Array
    of_truth: Array
    table: Array


def families_read(found: Matrices, problem: PanelProblem) -> FamiliesRead:
    """All that cells say at a point."""
    said, k = problem.answers, problem.n_categories
    draws = found.prevalence.shape[:-2]
    runs = said.runs.toarray().T
    lasting = np.empty((*draws, k, runs.shape[1]))
    reading = np.empty_like(lasting)
    for judge, columns in enumerate(_parts(said.judge, len(said.family))):
        slip, own = said.slip_of[judge], said.own_of[judge]
        with np.errstate(divide="ignore"):
            lasting[..., columns] = (
                found.slip[..., slip, :, :] @ runs[:, columns]
                if slip >= 0
                else np.log(runs[:, columns])
            )
            reading[..., columns] = (
                np.log(np.exp(found.own[..., own, :, :]) @ np.exp(lasting[..., columns]))
                if own >= 0
                else lasting[..., columns]
            )
    rows = reading.reshape(math.prod(draws) * k, -1)
    log = (said.entries @ rows.T).T.reshape(*draws, k, said.entries.shape[0])
    largest = log.max(axis=-2, keepdims=True, initial=np.finfo(float).min)
    answers = np.exp(log - largest)
    of_truth = np.empty_like(answers)
    misreading = np.exp(found.misreading).reshape(
        *draws, math.prod(found.misreading.shape[-4:-2]), k, k
    )
    for matrix, columns in enumerate(_parts(said.matrix_of, misreading.shape[-3])):
        of_truth[..., columns] = misreading[..., matrix, :, :] @ answers[..., columns]
    people = np.moveaxis(found.people, -2, -3).reshape(*draws, k, -1)
    with np.errstate(divide="ignore"):
        table = np.concatenate([people, np.log(of_truth) + largest], axis=-1)
    return FamiliesRead(lasting, reading, answers, of_truth, table)


def _parts(code: Codes, number: int) -> list[slice]:
    """Where each of so many codes stands in sorted ones."""
    first = np.searchsorted(code, np.arange(number + 1))
    return [slice(*ends) for ends in pairwise(first)]


def counts_expected(
    found: Matrices, read: FamiliesRead, by_cell: Array, problem: PanelProblem
) -> Mapping[str, Array]:
    """Expected numbers of answers in the cells of each matrix, given those by cell (K, V)."""
    said, k, n_people = problem.answers, problem.n_categories, problem.n_people
    people = by_cell[:, : n_people * k].reshape(k, n_people, k).swapaxes(0, 1)
    share = np.divide(
        by_cell[:, n_people * k :], read.of_truth, out=np.zeros_like(read.of_truth),
        where=read.of_truth > 0,
    )  # fmt: skip
    probability = np.exp(found.misreading).reshape(-1, k, k)
    misread, by_entry = np.zeros_like(probability), np.empty_like(share)
    for matrix, columns in enumerate(_parts(said.matrix_of, len(probability))):
        misread[matrix] = probability[matrix] * (share[:, columns] @ read.answers[:, columns].T)
        by_entry[:, columns] = read.answers[:, columns] * (
            probability[matrix].T @ share[:, columns]
        )
    by_reading = np.asarray(by_entry @ said.entries)
    own, slip = np.zeros_like(found.own), np.zeros_like(found.slip)
    runs = said.runs.toarray().T
    for judge, columns in enumerate(_parts(said.judge, len(said.family))):
        lasting = by_reading[:, columns]
        if said.own_of[judge] >= 0:
            of_own = np.exp(found.own[said.own_of[judge]])
            given = np.exp(read.lasting[:, columns])
            part = lasting / np.exp(read.reading[:, columns])
            own[said.own_of[judge]] = of_own * (part @ given.T)
            lasting = given * (of_own.T @ part)
        if said.slip_of[judge] >= 0:
            slip[said.slip_of[judge]] = lasting @ runs[:, columns].T
    return {
        "people": people,
        "misreading": misread.reshape(found.misreading.shape),
        "own": own,
        "slip": slip,
    }
