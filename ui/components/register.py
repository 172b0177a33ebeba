"""Makes a component of Streamlit out of the scripts and the style in this folder."""

from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent


def register(name: str, *scripts: str, style: str) -> Any:
    """Return what mounts the component made of `scripts`, one after another in one module.

    It stands in the page's own document, not in a shadow of it: only there does every browser tell
    what text a reader has selected. The style names its classes so that nothing else is touched.
    """
    return st.components.v2.component(
        name,
        css=_read(style),
        js="\n".join(_read(script) for script in scripts),
        isolate_styles=False,
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
