"""What a model of one's own is built from: base classes, and the types that their methods take.

A model of categories is a `ConjugateModel` if its parameters are all probabilities, and an
`AnnotationModel` otherwise. Any other model is a `RatingModel`.
"""

from reliabayes.arrays import Array, Codes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData, StanPart, extended
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.annotation import CONFUSION_QUANTITIES, AnnotationModel, by_rater
from reliabayes.models.bases.conjugate import ConjugateModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.results.posterior import Posterior

__all__ = [
    "CONFUSION_QUANTITIES",
    "AnnotationModel",
    "Array",
    "CategoricalProblem",
    "Codes",
    "ConjugateModel",
    "Expected",
    "Parameter",
    "Point",
    "Posterior",
    "Problem",
    "RatingModel",
    "StanData",
    "StanPart",
    "WarmStart",
    "by_rater",
    "extended",
]
