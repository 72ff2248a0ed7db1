"""The interactive app: a page on which a pasted table becomes an answer.

`notebook.py` is the page, a marimo notebook, and `elements.py` and `simulation_forms.py` make its
elements. The other modules compute all that it shows, and need no marimo.
"""
