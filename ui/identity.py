"""Who is asking: a signed-in user, the one local user, or a guest with a space of their own.

A page counts as local only when the server listens on loopback alone and the browser asked for a
loopback name, from a loopback page, with no proxy in between: a forwarded or rebound request says
otherwise in one of these headers. An absent Origin is not loopback.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from core.types import LOCAL_USER

SPACE = "space"
"""The parameter of a page's address that opens a guest's space."""
_SPACE_BYTES = 24
_SPACE_KEY = re.compile(r"[A-Za-z0-9_-]{32}")
_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whose pages these are. `space` is a guest's key, which every link must carry."""

    user: UUID
    kind: Literal["local", "login", "guest"]
    space: str = ""


def visitor(single_user: bool) -> Visitor | None:
    """Return who this page is for; None when they have to sign in first."""
    if login_configured():
        return _signed_in()
    alone = _loopback(st.get_option("server.address")) and is_local(st.context.headers)
    if single_user or alone:
        return Visitor(LOCAL_USER, "local")
    key = st.query_params.get(SPACE, "")
    if not _SPACE_KEY.fullmatch(key):
        key = secrets.token_urlsafe(_SPACE_BYTES)
        st.query_params[SPACE] = key
    return Visitor(guest(key), "guest", key)


def guest(key: str) -> UUID:
    """Return the user a guest's key stands for; the key itself is stored nowhere."""
    digest = hashlib.sha256(f"lectern guest {key}".encode()).digest()
    return UUID(bytes=digest[:16], version=4)


def login_configured() -> bool:
    """Whether the owner has set up sign-in (`[auth]` in Streamlit's secrets)."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def _signed_in() -> Visitor | None:
    name = st.user.get("sub") or st.user.get("email")
    if not st.user.is_logged_in or not name:
        return None
    return Visitor(uuid5(NAMESPACE_URL, f"{st.user.get('iss', '')}#{name}"), "login")


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
