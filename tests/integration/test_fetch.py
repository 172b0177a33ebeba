"""Papers fetched from a loopback arXiv, and BibTeX files that name papers of the library."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest

from core.errors import BadInput, Cancelled, Unavailable
from core.ingest.fetch import ArxivFetcher
from core.ingest.identifiers import Identifier, recognise
from core.ingest.queue import OVER, Adding
from core.pace import Pace
from core.types import LOCAL_USER

ATTENTION = "1706.03762"


@pytest.fixture
def arxiv(shared: Path, sample: Path) -> Iterator[SimpleNamespace]:
    """Serve real pages and a PDF as arXiv does; `asked` holds the paths that were asked for."""
    folder = shared / "arxiv_html" / "latexml_0.8.7"
    stub = (folder / "failed_conversion_2501.00089.html").read_bytes()
    asked: list[str] = []
    pages = {
        f"/html/{ATTENTION}": (200, {}, (folder / f"{ATTENTION}.html").read_bytes()),
        "/html/2501.00089": (200, {}, stub),
        "/pdf/2501.00089": (200, {}, sample.read_bytes()),
        "/html/math/0301001": (301, {"Location": "/html/2501.00089"}, b""),
        "/pdf/math/0301001v2": (301, {"Location": "http://localhost:9/evil"}, b""),
        "/html/2401.00001": (429, {}, b""),
        "/html/2401.00002": (200, {"Content-Length": str(2**31)}, b"x" * 1000),
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, headers, body = pages.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", asked=asked)
    server.shutdown()
    thread.join()
    server.server_close()


def wait(bench, user: UUID = LOCAL_USER) -> list[Adding]:
    for _ in range(600):
        entries = bench.add_queue.entries(user)
        if all(entry.state in OVER for entry in entries):
            return entries
        time.sleep(0.05)
    raise AssertionError("files are still on their way")


def test_the_html_is_fetched_when_it_has_the_text_and_the_pdf_when_not(arxiv, tmp_path) -> None:
    fetcher = ArxivFetcher(Pace(tmp_path, "arxiv", 0), arxiv.url)
    seen: list[tuple[int, int]] = []
    page = fetcher.fetch(recognise(ATTENTION), lambda *at: seen.append(at))
    assert page.filename == f"{ATTENTION}.html"
    assert seen[-1][0] == seen[-1][1] == len(page.data)
    assert fetcher.fetch(recognise("arXiv:2501.00089")).data.startswith(b"%PDF-")
    assert fetcher.fetch(recognise("2501.00089")).filename == "2501.00089.pdf"
    assert arxiv.asked.count("/html/2501.00089") == 2


@pytest.mark.parametrize(
    ("paper", "error", "code", "said"),
    [
        ("2401.99999", BadInput, "NOT_ON_ARXIV", "2401.99999"),
        ("2401.00001", Unavailable, "ARXIV_UNAVAILABLE", "429"),
        ("2401.00002", BadInput, "TOO_LARGE", "100 MB"),
        ("math.AG/0301001v2", Unavailable, "ARXIV_UNAVAILABLE", "another site"),
        ("10.1145/3292500.3330701", BadInput, "NOT_FETCHABLE", "DOI"),
    ],
)
def test_what_cannot_be_fetched_is_said(arxiv, tmp_path, paper, error, code, said) -> None:
    with pytest.raises(error) as caught:
        ArxivFetcher(Pace(tmp_path, "arxiv", 0), arxiv.url).fetch(recognise(paper))
    assert caught.value.code == code
    assert said in caught.value.message


def test_offline_and_stopped(tmp_path) -> None:
    nobody = "http://127.0.0.1:9"
    with pytest.raises(Unavailable, match="arXiv cannot be reached"):
        ArxivFetcher(Pace(tmp_path, "arxiv", 0), nobody).fetch(recognise(ATTENTION))
    pace = Pace(tmp_path, "arxiv", 60)
    pace.wait(lambda: False)
    fetcher = ArxivFetcher(pace, nobody)
    with pytest.raises(Cancelled):
        fetcher.fetch(Identifier("arxiv", ATTENTION), None, lambda: True)


def test_a_fetched_paper_and_a_bibtex_file(make_bench: Callable, arxiv, sample: Path) -> None:
    bench = make_bench(ARXIV_URL=arxiv.url, ARXIV_SECONDS=0)
    bench.add_queue.fetch(LOCAL_USER, recognise(f"https://arxiv.org/abs/{ATTENTION}?x=1"))
    bench.add_queue.submit(LOCAL_USER, sample.name, sample.read_bytes())
    bib = f"""@article{{vaswani, title = {{{{Attention}} is all you n{{\\'e}}ed}}, eprint = {{{ATTENTION}}},
      archivePrefix = {{arXiv}}, author = {{Vaswani, A. and Shazeer, Noam}}, year = 2017}}
      @misc{{f, title="Fusion", file={{:papers/{sample.name}:application/pdf}}}}
      @book{{none, title = {{A Book Nobody Added}}, year = 1999}}
      @article{{broken, title = {{no end"""
    bench.add_queue.submit(LOCAL_USER, "my.bib", bib.encode())
    paper, pdf, notes = wait(bench)
    assert (paper.state, paper.title) == ("done", "Attention Is All You Need")
    assert pdf.state == "done"
    assert notes.state == "done"
    assert notes.message.startswith("2 of 3 entries")
    assert "A Book Nobody Added" in notes.hint
    rows = {row.filename: row for row in bench.papers.papers(LOCAL_USER)}
    meta = rows[f"{ATTENTION}.html"].meta
    assert (meta.title, meta.year) == ("Attention is all you néed", 2017)
    assert meta.authors == ("A. Vaswani", "Noam Shazeer")
    assert meta.arxiv_id == ATTENTION
    assert meta.abstract.startswith("The dominant sequence")
    assert rows[sample.name].meta.title == "Fusion"
    reader = bench.reader
    assert not reader.drawable(LOCAL_USER, rows[f"{ATTENTION}.html"].paper_id)
