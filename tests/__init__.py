"""Tests, whose chains and workers keep all cores busy: matrices are too small for threads."""

import os

# Threads that wait in turn for a core cost ten times the work; numpy reads this when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
