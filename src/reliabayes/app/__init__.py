"""The interactive app: a page on which a pasted table becomes an answer.

`notebook.py` is the page, a marimo notebook; all that it computes is in the other modules, which need
no marimo.
"""
