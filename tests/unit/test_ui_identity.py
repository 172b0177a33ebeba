"""Only the person at this computer is the local user."""

import pytest

from ui.identity import is_local

HERE = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}


@pytest.mark.parametrize(
    "headers",
    [
        HERE,
        {"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"},
        {"Host": "[::1]:8501", "Origin": "http://[::1]:8501"},
    ],
)
def test_loopback_pages_are_local(headers):
    assert is_local(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "localhost:8501"},
        {**HERE, "Host": "evil.example:8501"},
        {**HERE, "Origin": "http://evil.example"},
        {**HERE, "Origin": "null"},
        {**HERE, "Host": "localhost.evil.example"},
        {**HERE, "Host": "192.168.0.7:8501"},
        {**HERE, "Origin": "chrome-extension://localhost"},
        {**HERE, "Origin": "http://evil@localhost"},
        {**HERE, "Origin": "http://[bad"},
        {**HERE, "Host": "[::1"},
        {**HERE, "Via": "1.1 proxy"},
        {**HERE, "X-Forwarded-For": "127.0.0.1"},
        {**HERE, "X-Forwarded-Host": "lab.example"},
        {**HERE, "X-Real-Ip": "10.0.0.1"},
        {**HERE, "Forwarded": "for=10.0.0.1"},
    ],
)
def test_everything_else_is_not(headers):
    assert not is_local(headers)
