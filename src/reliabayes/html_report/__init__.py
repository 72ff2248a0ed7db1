"""One HTML page with the results of one or several fits, the answer first.

jinja2 and matplotlib are imported when a page is made, not with the package.
"""

from reliabayes.html_report.answers import Answer, answer
from reliabayes.html_report.fragment import answer_fragment, blocks_fragment, fragment_style
from reliabayes.html_report.page import report

__all__ = ["Answer", "answer", "answer_fragment", "blocks_fragment", "fragment_style", "report"]
