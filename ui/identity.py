"""Who is asking. On loopback it is the one local user; anything else must be allowed by the owner.

A page counts as local only when the browser asked for a loopback name, from a loopback page, with
no proxy in between: a forwarded or rebound request says otherwise in one of these headers.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit
from uuid import UUID

import streamlit as st

from core.types import LOCAL_USER
from core.workbench import Workbench

_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via")


def current_user(bench: Workbench) -> UUID:
    """Return the user of this page, or show why there is none and stop the page."""
    if bench.settings.single_user or is_local(st.context.headers):
        return LOCAL_USER
    st.error(
        "This Lectern is open to one person, on the computer it runs on. If it is yours and only "
        "you can reach it, set LECTERN_SINGLE_USER=1 and start it again."
    )
    st.stop()


def is_local(headers: Mapping[str, str]) -> bool:
    """Whether a request came from this computer, by its Host, Origin and forwarding headers."""
    if any(headers.get(name) for name in _FORWARDED):
        return False
    try:
        origin = urlsplit(headers.get("Origin") or "")
        host = urlsplit(f"//{headers.get('Host') or ''}")
        web = origin.scheme in ("http", "https") and origin.username is None
        return web and _loopback(origin.hostname) and _loopback(host.hostname)
    except ValueError:
        return False


def _loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False
