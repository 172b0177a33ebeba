"""What a paper has beside running text, as lists: contents, tables, figures, references."""

from typing import Any
from urllib.parse import quote
from uuid import UUID

import streamlit as st

from core.ingest.queue import OVER
from core.types import Reference, Structure, Table
from ui.evidence import turn_to
from ui.frame import Session
from ui.language import _, ngettext
from ui.safe import plain

SHOWN = 60
"""Tables and figures drawn at most; further ones are named."""
HIGH = 420
_BLANK = "\u200a"
"""Names a column without a head, and tells columns of one name apart, unseen."""


def show(session: Session, paper: UUID, name: str) -> None:
    """Draw the choice of lists and the one that is chosen; nothing is loaded before."""
    names = {
        "contents": _("Contents"),
        "tables": _("Tables"),
        "figures": _("Figures"),
        "references": _("References"),
    }
    chosen = st.segmented_control(
        _("What the paper holds"),
        list(names),
        format_func=names.__getitem__,
        key=f"holds-{paper}",
        label_visibility="collapsed",
    )
    if chosen is None:
        return
    structure = session.bench.papers.structure(session.user, paper)
    if structure is None:
        _unread(session, paper, name)
        return
    draw = {
        "contents": _contents,
        "tables": _tables,
        "figures": _figures,
        "references": _references,
    }
    counted = _counted(chosen, structure)
    if counted:
        st.caption(counted)
    long = len(structure.tables) > 1 if chosen == "tables" else len(structure.figures) > 6
    with st.container(
        key="holds", height=HIGH if chosen in ("tables", "figures") and long else "content"
    ):
        draw[chosen](structure, f"holds-{paper}-{chosen}")


def _unread(session: Session, paper: UUID, name: str) -> None:
    """Offer to look for what an earlier version did not look for."""
    entries = session.bench.add_queue.entries(session.user)
    busy = any(entry.anew == paper and entry.state not in OVER for entry in entries)
    with st.container(key="unread"):
        st.caption(
            _(
                "This paper was added by an earlier version: read it anew to see contents, tables, "
                "figures and references. What it says and what was cited stay as they are."
            )
        )
        st.button(
            _("Being read …") if busy else _("Read it anew"),
            key=f"anew-{paper}",
            icon=":material/refresh:",
            disabled=busy,
            on_click=session.bench.add_queue.read_anew,
            args=(session.user, paper, name),
        )


def _counted(chosen: str, structure: Structure) -> str:
    """Return how many tables or figures there are to scroll through, if more than one."""
    tables, figures = len(structure.tables), len(structure.figures)
    if chosen == "tables" and tables > 1:
        return ngettext("{count} table", "{count} tables", tables).format(count=tables)
    if chosen == "figures" and figures > 1:
        return ngettext("{count} figure", "{count} figures", figures).format(count=figures)
    return ""


def _contents(structure: Structure, key: str) -> None:
    if not structure.sections:
        st.caption(_("This paper has no sections that could be recognised."))
        return
    rows = [
        {"page": head.page, "section": "\u2003" * (head.level - 1) + head.title}
        for head in structure.sections
    ]
    _to_pages(rows, key, {"section": st.column_config.TextColumn(_("Section"), width="large")})


def _references(structure: Structure, key: str) -> None:
    if not structure.references:
        st.caption(_("No list of references was found in this paper."))
        return
    columns = {
        "label": st.column_config.TextColumn(_("No."), width=60),
        "title": st.column_config.TextColumn(_("Title"), width=320),
        "authors": st.column_config.TextColumn(_("Authors"), width=200),
        "year": st.column_config.TextColumn(_("Year"), width=60),
        "link": st.column_config.LinkColumn(
            _("Link"), width=170, display_text=r"https://[^/]+/(.*)"
        ),
        "text": st.column_config.TextColumn(_("As printed"), width=400),
    }
    rows = [_entry(entry) for entry in structure.references]
    if not any(row["label"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "label"} for row in rows]
    _to_pages(rows, key, columns)


def _entry(entry: Reference) -> dict[str, Any]:
    return {
        "label": entry.label,
        "title": entry.title,
        "authors": ", ".join(entry.authors),
        "year": str(entry.year or ""),
        "link": _address(entry),
        "page": entry.page,
        "text": entry.text,
    }


def _address(entry: Reference) -> str | None:
    """Return where the work is: at doi.org or arxiv.org, nowhere else."""
    if entry.doi:
        return f"https://doi.org/{quote(entry.doi, safe='/()')}"
    return f"https://arxiv.org/abs/{quote(entry.arxiv_id, safe='/.')}" if entry.arxiv_id else None


def _to_pages(rows: list[dict[str, Any]], key: str, columns: dict[str, Any]) -> None:
    """Draw rows, each with the page it is on; the one ticked opens it."""

    def turn() -> None:
        for at in st.session_state[key].selection.rows:
            turn_to("", rows[at]["page"])

    st.caption(_("Tick a line to open its page."))
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        height=min(HIGH, (len(rows) + 1) * 35 + 3),
        on_select=turn,
        selection_mode="single-row",
        column_config={**columns, "page": st.column_config.NumberColumn(_("Page"), width=60)},
    )


def _tables(structure: Structure, key: str) -> None:
    if not structure.tables:
        st.caption(_("No tables were found in this paper."))
    for at, table in enumerate(structure.tables[:SHOWN]):
        _captioned(table.caption, table.page, f"{key}-{at}")
        st.dataframe(_columns(table), hide_index=True, height="content")
    _unshown(len(structure.tables))


def _columns(table: Table) -> dict[str, list[str]]:
    """Return a table's columns under names of their own: heads may be empty or repeat."""
    columns: dict[str, list[str]] = {}
    head, *rows = table.rows
    for at, name in enumerate(head):
        shown = name or _BLANK
        while shown in columns:
            shown += _BLANK
        columns[shown] = [row[at] for row in rows]
    return columns


def _figures(structure: Structure, key: str) -> None:
    if not structure.figures:
        st.caption(_("No figures with captions were found in this paper."))
    for at, figure in enumerate(structure.figures[:SHOWN]):
        _captioned(figure.caption, figure.page, f"{key}-{at}")
    _unshown(len(structure.figures))


def _captioned(caption: str, page: int, key: str) -> None:
    with st.container(gap="xsmall"):
        st.button(
            _("page {page}").format(page=page),
            key=key,
            icon=":material/article:",
            type="tertiary",
            on_click=turn_to,
            args=("", page),
        )
        st.markdown(f":small[{plain(caption)}]")


def _unshown(count: int) -> None:
    if count > SHOWN:
        st.caption(
            _("Only the first {shown} of {count} are shown.").format(shown=SHOWN, count=count)
        )
