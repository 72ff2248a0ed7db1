"""Where the package runs."""

from __future__ import annotations

import sys

# WebAssembly, as Pyodide and others have it, starts neither processes nor threads.
WEBASSEMBLY = frozenset({"emscripten", "wasi"})
IN_BROWSER = sys.platform in WEBASSEMBLY
