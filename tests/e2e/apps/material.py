"""What the components are shown: a page of a real paper, an answer that cites it, hostile text."""

from functools import lru_cache
from pathlib import Path

from core.evidence.numbering import cited
from core.evidence.sentences import sentences as split
from core.ingest.worker import Worker
from core.types import Box
from ui.components import Mark, paragraph_starts

SAMPLE = Path(__file__).resolve().parents[3] / "data" / "samples" / "fusion.pdf"
PAGES = 12  # the sample is shorter: its pages come round again, so that there is something to turn
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


@lru_cache(1)
def paper():
    worker = Worker()
    return worker, worker.parse(SAMPLE.read_bytes())[0]


@lru_cache(16)
def picture(number: int) -> bytes:
    return paper()[0].render(SAMPLE.read_bytes(), number)


def lines_of(number: int) -> list[tuple[str, Box]]:
    chunks = [chunk for chunk in paper()[1].chunks if chunk.page == number]
    return [(c.text[s.start : s.end], s.box) for c in chunks for s in c.spans]


def sentences(hostile: bool) -> list[dict]:
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


def marks(number: int, current: int | None, more: bool = False) -> list[Mark]:
    lines = lines_of(number)
    places = {1: lines[2:4], 2: lines[12:15], 3: lines[-3:]}
    if more:
        places[4] = lines[20:21]
    return [
        Mark(n, [box for _, box in place], n == current, " ".join(text for text, _ in place))
        for n, place in places.items()
    ]
