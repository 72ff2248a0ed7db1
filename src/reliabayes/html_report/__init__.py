"""One HTML page that tells all that fits say of ratings, the answer first.

jinja2 and matplotlib are imported when a page is made, not before.
"""

from reliabayes.html_report.answers import answer
from reliabayes.html_report.wording import Answer
from reliabayes.html_report.writing import report

__all__ = ["Answer", "answer", "report"]
