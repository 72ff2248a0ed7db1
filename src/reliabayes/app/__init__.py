"""The interactive app: a page on which a pasted table becomes an answer.

`notebook.py` is the page, a marimo notebook; the other modules compute all that it shows, and need
no marimo.
"""
