"""Both components on a page of their own, fed from a real paper, telling what they were told.

The address says what to draw: `show=hostile` hostile strings, `show=text` a paper without pictures.
"""

from pathlib import Path

import streamlit as st

from core.ingest.worker import Worker
from core.types import Box
from ui.components import Mark, PageEvent, answer_text, page_view, paragraph_starts

SAMPLE = Path(__file__).resolve().parents[3] / "data" / "samples" / "fusion.pdf"
PAGES = 12
"""The sample is shorter: its pages come round again, so that there is something to turn."""
ANSWER = """Fusion combines a dense path with **BM25** [1, 2]. The weights are fitted on queries. [3]

The gain holds in Chinese as well [2]. Nobody knows why [1]. It was refuted [3]. So: partly [2].

- One item rests on [1]
- Another rests on [2][3]

1. 首先比较两条路径 [1]。其次比较权重 [2]。"""
HOSTILE = (
    '<img src=x onerror="document.title=`owned`"> <script>document.title=1</script>',
    "[click](javascript:document.title=1) ![x](http://192.0.2.1/x.png) http://192.0.2.1/",
    "A number that is none [99999999999] [7] [0, 1] [1].",
    "Right to left \u202eoverride [1]",
    "x" * 5000,
)
VERDICTS = ("supported", "partly", "contradicted", "unsupported")
ANSWER_LABELS = {
    "citations": {n: f"Citation {n}, page {n}, Fusion" for n in (1, 2, 3)},
    "verdicts": {
        "supported": "Supported",
        "partly": "Partly supported",
        "contradicted": "Contradicted",
        "unsupported": "Not supported",
    },
    "removed": "Numbers that do not exist: {numbers}",
}
PAGE_LABELS = {
    "picture": "Page {page} of {pages}",
    "citation": "Citation {n}",
    "page": "Page",
    "previous": "Previous page",
    "next": "Next page",
    "zoom_in": "Zoom in",
    "zoom_out": "Zoom out",
    "fit": "Fit width",
    "close": "Close",
    "ask_about": "Ask about this",
}


@st.cache_resource
def paper():
    worker = Worker()
    return worker, worker.parse(SAMPLE.read_bytes())[0]


@st.cache_data
def picture(number: int) -> bytes:
    return paper()[0].render(SAMPLE.read_bytes(), number)


def lines_of(number: int) -> list[tuple[str, Box]]:
    chunks = [chunk for chunk in paper()[1].chunks if chunk.page == number]
    return [(c.text[s.start : s.end], s.box) for c in chunks for s in c.spans]


def sentences(hostile: bool) -> list[dict]:
    from core.evidence.numbering import cited
    from core.evidence.sentences import sentences as split

    texts = HOSTILE if hostile else split(ANSWER)
    starts = [True] * len(HOSTILE) if hostile else paragraph_starts(ANSWER)
    return [
        {
            "text": text,
            "citations": [n for n in cited(text) if n <= 3],
            "verdict": VERDICTS[i % 4],
            "reason": f"Reason {i}: {text[:60]}",
            "removed": [9] if i == 2 else [],
            "paragraph": start,
        }
        for i, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]


def marks(number: int, current: int | None) -> list[Mark]:
    lines = lines_of(number)
    places = {1: lines[2:4], 2: lines[12:15], 3: lines[-3:]}
    return [
        Mark(n, [box for _, box in place], n == current, " ".join(text for text, _ in place))
        for n, place in places.items()
    ]


def opened(n: int) -> None:
    st.session_state.current = n
    st.session_state.opened = st.session_state.get("opened", 0) + 1
    tell(f"opened {n}")


def happened(event: PageEvent) -> None:
    tell(f"{event.kind} {event.number} {event.text}".strip())
    if event.kind == "turn":
        st.session_state.page = event.number
    if event.kind == "cite":
        st.session_state.current = event.number


def tell(what: str) -> None:
    st.session_state.setdefault("told", []).append(what)


st.set_page_config(layout="wide")
show = st.query_params.get("show", "")
number = st.session_state.get("page", 1)
drawn = (number - 1) % len(paper()[1].pages) + 1
current = st.session_state.get("current")
left, right = st.columns([1, 1])
with left:
    answer_text(
        sentences(show == "hostile"),
        key="answer",
        current=current,
        labels=ANSWER_LABELS,
        on_open=opened,
    )
    st.button("Rerun")
with right:
    page = paper()[1].pages[drawn - 1]
    page_view(
        key="page",
        picture=None if show else picture(drawn),
        size=(page.width, page.height),
        text="\n\n".join(HOSTILE) if show == "hostile" else page.text,
        lines=lines_of(drawn),
        marks=[] if show == "hostile" else marks(drawn, current),
        found=[lines_of(drawn)[5][1]],
        page=number,
        pages=PAGES,
        labels=PAGE_LABELS,
        height=720,
        opened=st.session_state.get("opened", 0),
        on_event=happened,
    )
st.code("\n".join(st.session_state.get("told", ["nothing yet"])), language=None)
