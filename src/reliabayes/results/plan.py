"""How a posterior is to be sampled, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill

WIDTH = 80


@dataclass(frozen=True, repr=False)
class Plan:
    """How a posterior is to be sampled, and why; `print` reads as in a section on methods.

    Attributes
    ----------
    model : str
        Class of the model.
    sampler : {"nuts", "hmc", "gibbs", "independence"}
        What draws first.
    program : str
        Stan program that NUTS or Hamiltonian Monte Carlo samples by.
    starts : int
        Modes around which chains start; 0 if they start elsewhere.
    chains, warmup, draws : int
        Markov chains, and the iterations of each, discarded and kept.
    every : int
        Sweeps or iterations for each draw.
    acceptance : float
        Acceptance rate that steps are adapted to; 0 if there are no steps.
    nodes : int
        Nodes of a quadrature over items; 0 if there is none.
    ess : float
        Effective sample size below which chains go on.
    then : tuple of str
        What follows, in turn, if chains cannot go on and draws are in doubt.
    reasons : mapping of str to str
        Reasons, by attribute.
    seconds : float or None
        About how long that takes here, if it was tried.
    """

    model: str
    sampler: str
    program: str
    starts: int
    chains: int
    warmup: int
    draws: int
    every: int
    acceptance: float
    nodes: int
    ess: float
    then: tuple[str, ...]
    reasons: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return "\n".join(fill(text, WIDTH) for text in self.paragraphs)

    def __repr__(self) -> str:
        return f"Plan({self.model} by {self.sampler}, {self.chains} x {self.draws} draws)"

    @property
    def paragraphs(self) -> list[str]:
        """What is done, and what follows if it does not suffice."""
        by = f", by the Stan program {self.program}" if self.program else ""
        at = "dispersed"
        if self.starts:
            at = f"around {'the mode' if self.starts == 1 else f'{self.starts} modes'} of EM"
        first = [
            f"{self.model} is sampled by {NAMES[self.sampler]}{by}, {self.reasons['sampler']}.",
            f"{self.chains} {'chain starts' if self.chains == 1 else 'chains start'} {at}, with "
            f"{self.warmup:,} iterations of warm-up ({self.reasons['warmup']}) and {self.draws:,} "
            f"draws each.",
        ]
        if self.every > 1:
            first.append(f"A draw takes {self.every} {UNITS[self.sampler]}.")
        if self.acceptance:
            first.append(f"The step size is adapted to an acceptance rate of {self.acceptance:g}.")
        if self.nodes:
            first.append(f"Effects of items are integrated out over {self.nodes} nodes.")
        later = [
            f"Chains go on if an ESS is below {self.ess:g}, or if R-hat or a diagnostic of the "
            "sampler puts draws in doubt, until a budget of work is spent."
        ]
        if self.then:
            later.append(f"After that {', then '.join(self.then)}.")
        if self.seconds is not None:
            later.append(f"The draws take about {self.seconds:.2g} s on this machine.")
        return [" ".join(first), " ".join(later)]


NAMES = {
    "nuts": "NUTS",
    "hmc": "Hamiltonian Monte Carlo without trees",
    "gibbs": "Gibbs sampling",
    "independence": "independence sampling",
}
UNITS = {
    "nuts": "iterations",
    "hmc": "trajectories",
    "gibbs": "sweeps",
    "independence": "proposals",
}
