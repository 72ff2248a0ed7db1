"""One HTML page with the results of one or several fits, the answer first.

The answer alone is needed after each fit, so that nothing is imported here: `answers` has neither
tables nor pictures. jinja2 and matplotlib are imported when a page is made.
"""
