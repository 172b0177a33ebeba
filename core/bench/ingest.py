"""How long until a new paper can be asked, against the `paper-qa` package on the same file.

The package is no dependency: it lives in a virtual environment of its own in the cache folder,
made at the first run (which needs the network) or named by LECTERN_BENCH_PAPERQA. Both sides are
warm: imports are done and one copy of the paper has been read before the clock starts. Rounds
alternate, so that whatever else the machine does hits both.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from platformdirs import user_cache_path

from core.bench.isolated import isolated_workbench
from core.errors import Unavailable
from core.types import LOCAL_USER
from core.workbench import Workbench

ROUNDS = 5
ENVIRONMENT = "LECTERN_BENCH_PAPERQA"
"""Names the folder of a virtual environment that has `paper-qa`."""

_THEIRS = """
import asyncio, json, logging, sys, time, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from paperqa import Docs, Settings

path = sys.argv[1]
settings = Settings(embedding="sparse")
settings.parsing.use_doc_details = False
if hasattr(settings.parsing, "multimodal"):
    settings.parsing.multimodal = False
if hasattr(settings.parsing, "reader_config"):
    settings.parsing.reader_config = {"chunk_chars": 1000, "overlap": 100}
else:
    settings.parsing.chunk_size, settings.parsing.overlap = 1000, 100

async def add():
    docs = Docs()
    began = time.perf_counter()
    await docs.aadd(path, citation="Bench, 2023", docname="bench", settings=settings)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "chunks": len(docs.texts)}

for line in sys.stdin:
    print(json.dumps(asyncio.run(add())), flush=True)
"""


def run(pdf: Path) -> dict[str, Any]:
    """Return the seconds until `pdf` is searchable here and in `paper-qa`, and their ratio.

    Raises:
        Unavailable: the other package cannot be installed or does not run.
    """
    python = _their_python()
    with isolated_workbench() as bench, _their_process(python, pdf) as theirs:
        ours_seconds, theirs_seconds, chunks = [], [], 0
        for number in range(ROUNDS + 1):
            done = _ours(bench, pdf, number)
            their = _ask(theirs)
            if number:  # the first of each is the warming up
                ours_seconds.append(done)
                theirs_seconds.append(float(their["seconds"]))
                chunks = int(their["chunks"])
        _close(theirs)
    ours, other = statistics.median(ours_seconds), statistics.median(theirs_seconds)
    return {
        "rounds": ROUNDS,
        "ours_p50_seconds": round(ours, 3),
        "paperqa_p50_seconds": round(other, 3),
        "ours_seconds": [round(value, 3) for value in ours_seconds],
        "paperqa_seconds": [round(value, 3) for value in theirs_seconds],
        "paperqa_chunks": chunks,
        "ratio": round(ours / other, 3),
        "target_ratio": 0.5,
    }


def _ours(bench: Workbench, pdf: Path, number: int) -> float:
    """Add the paper as new: other bytes at its end each time, where no reader looks."""
    data = pdf.read_bytes() + b"\n%% round %d\n" % number
    return bench.ingestor.ingest(LOCAL_USER, pdf.name, data).seconds


def _their_python() -> Path:
    folder = Path(os.environ.get(ENVIRONMENT) or user_cache_path("lectern") / "bench-paper-qa")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (folder / "ready").exists() or ENVIRONMENT in os.environ:
        return python
    try:
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", "paper-qa"],
        ):
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own words
    except (subprocess.CalledProcessError, OSError) as error:
        raise Unavailable(
            "The package paper-qa, which the bench compares with, cannot be installed.",
            hint=f"It needs the network once; or name an environment that has it in {ENVIRONMENT}.",
        ) from error
    (folder / "ready").touch()
    return python


def _their_process(python: Path, pdf: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own script
        [str(python), "-c", _THEIRS, str(pdf)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _ask(process: subprocess.Popen[str]) -> dict[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise Unavailable("The other package's process has no pipes.")
    try:
        process.stdin.write("add\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if not answer:
        raise Unavailable("The package paper-qa does not run.", hint="Remove its environment.")
    return cast(dict[str, Any], json.loads(answer))


def _close(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.wait(timeout=30)
