"""What every test gets: no network but loopback, and the shared material when it is there."""

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = [
    "tests.fixtures.database",
    "tests.fixtures.model_server",
    "tests.fixtures.sign_in",
]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"

for name in list(os.environ):
    if name.endswith("_API_KEY") or name.startswith(("LLM_", "LECTERN_")) or name == "DATABASE_URL":
        del os.environ[name]
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["ANONYMIZED_TELEMETRY"] = "False"


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse any connection that would leave this machine."""
    real_connect = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            local = host == "localhost" or ipaddress.ip_address(host).is_loopback
            if not local:
                raise AssertionError(f"a test tried to reach {host}")
        real_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real papers and labelled sets beside the project."""
    if not SHARED.is_dir():
        pytest.skip("../shared/data is not here: real papers are not part of the project")
    return SHARED


@pytest.fixture(scope="session")
def sample() -> Path:
    """One of the project's own sample papers (English, about fusion)."""
    return ROOT / "data" / "samples" / "fusion.pdf"
