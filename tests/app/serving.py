"""The app, served in a thread of this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reliabayes.app.admission import Admission


@contextmanager
def served(admission: Admission | None = None) -> Iterator[str]:
    """Serve the app, and return its address."""
    import uvicorn

    from reliabayes.app.server import made

    config = uvicorn.Config(made(admission), port=0, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
