"""A workbench of a bench's own: new folder, embedded database, no key, no outside server."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.config import Settings
from core.workbench import Workbench

_UNSET = dict.fromkeys(
    (
        "DATABASE_URL",
        "CHROMA_URL",
        "LLM_BASE_URL",
        "LLM_API_KEY",
        "LLM_MODEL",
        "DEEPSEEK_API_KEY",
        "OPENAI_API_KEY",
        "COHERE_API_KEY",
    ),
    "",
)


@contextmanager
def isolated_workbench(folder: Path | None = None, **settings: str) -> Iterator[Workbench]:
    """Yield a workbench nobody else uses; what is set here counts, the environment's keys do not.

    Its data are in `folder`, or in a new one that is gone afterwards. EMBEDDING_MODELS is the
    environment's, so that either set-up can be measured.
    """
    with tempfile.TemporaryDirectory(prefix="lectern-bench-") as temporary:
        data = folder or Path(temporary) / "data"
        values = {"LECTERN_DATA_DIR": str(data), **_UNSET, **settings}
        with Workbench(Settings.model_validate(values)) as workbench:
            yield workbench


def isolated_environment(folder: Path, **settings: str) -> dict[str, str]:
    """Return the environment of another process that shall work as isolated, on that folder."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
    return {**kept, "LECTERN_DATA_DIR": str(folder), **settings}
