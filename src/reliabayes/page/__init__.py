"""One HTML page that tells all that fits say of ratings, the answer first.

jinja2 and matplotlib are imported when a page is made, not before.
"""

from reliabayes.page.answers import answer
from reliabayes.page.wording import Answer
from reliabayes.page.writing import report

__all__ = ["Answer", "answer", "report"]
