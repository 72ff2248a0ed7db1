"""The answer of a fit: a headline, sentences and figures."""

from reliabayes.html_report.answers.dispatch import answer
from reliabayes.html_report.answers.figures import Answer, Figure

__all__ = ["Answer", "Figure", "answer"]
