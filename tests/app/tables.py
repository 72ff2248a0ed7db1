"""Tables that tests paste."""

from __future__ import annotations

# Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420, as copied from a spreadsheet.
SHROUT_FLEISS = """\
target\tJ1\tJ2\tJ3\tJ4
1\t9\t2\t5\t8
2\t6\t1\t3\t2
3\t8\t4\t6\t8
4\t7\t1\t2\t6
5\t10\t5\t6\t9
6\t6\t2\t4\t7
"""
SCRIPT = "<script>document.title = 'hacked'</script>"
IMAGE = "<img src=x onerror=\"document.title = 'hacked'\">"
FAULTY = """\
item,rater,rating
1,A,3
1,A,4
2,B,
3,B,2
3,A,2
"""
