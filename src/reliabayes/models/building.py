"""What a model of one's own is built from: base classes, and the types that their methods take.

A model of categories is a `CategoryModel`, whose family is `Categories` with a `Response`; that is
`ByCounts` if its parameters are all probabilities. Any other model is a `RatingModel`.
"""

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.by_counts import ByCounts
from reliabayes.families.categories.family import Categories, Response
from reliabayes.families.categories.know_or_guess import known_and_guessed, known_or_guessed
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem, by_rater
from reliabayes.families.categories.reports import CONFUSION_QUANTITIES
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData, StanPart, extended
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.category_model import CategoryModel
from reliabayes.models.rating_model import RatingModel
from reliabayes.results.posterior import Posterior

__all__ = [
    "CONFUSION_QUANTITIES",
    "PREVALENCE",
    "Array",
    "ByCounts",
    "CategoricalProblem",
    "Categories",
    "CategoryModel",
    "Codes",
    "Expected",
    "Parameter",
    "Point",
    "Posterior",
    "Problem",
    "RatingModel",
    "Response",
    "StanData",
    "StanPart",
    "WarmStart",
    "by_rater",
    "extended",
    "known_and_guessed",
    "known_or_guessed",
]
