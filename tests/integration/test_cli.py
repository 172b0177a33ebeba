"""The command line as somebody uses it: a process of its own, its output, its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fixtures.arxiv_server import EMPTY, loopback_arxiv, ok, paper_page

WITHOUT_TORCH = """
import sys
class Blind:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "sentence_transformers", "transformers"):
            return None
        return self.finder.find_spec(name, path, target)
sys.meta_path[:] = [Blind(finder) for finder in sys.meta_path]
from core.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A data folder with a space and Chinese in its name, kept for the tests of this file."""
    return tmp_path_factory.mktemp("数据 folder")


def run(folder, *arguments, program=("-m", "core"), **environment):
    command = [sys.executable, *program, *map(str, arguments)]
    environment = {
        **os.environ,
        "LECTERN_DATA_DIR": str(folder),
        "EMBEDDING_MODELS": "use-multilingual",
        "OMP_NUM_THREADS": "1",
        **environment,
    }
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
    )


def as_json(done):
    assert done.stdout.count("\n") == 1, done.stdout + done.stderr
    return json.loads(done.stdout)


def ingest(folder, *files, **options):
    return as_json(run(folder, "ingest", *files, "--json", **options))


def test_ingest_search_ask_papers_remove(folder, sample):
    (row,) = ingest(folder, sample)
    assert row["title"] == "How Lectern Fuses Dense and Lexical Retrieval"
    assert (row["pages"], row["language"], row["duplicate"]) == (3, "en", False)
    (again,) = ingest(folder, sample)
    assert again["duplicate"]
    assert again["paper_id"] == row["paper_id"]

    hits = as_json(run(folder, "search", "standardised scores", "-k", "3", "--json"))
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert set(hits[0]["scores"]) == {"dense", "bm25", "fused", "rerank"}

    asked = run(folder, "ask", "Which data sets were compared?", "--paper", sample, "--json")
    answer = as_json(asked)
    assert (answer["mode"], answer["intent"]) == ("extractive", "chat")
    assert {"n", "paper_id", "title", "page", "section", "quote", "scores"} <= set(
        answer["citations"][0]
    )
    assert {"text", "citations", "verdict"} <= set(answer["sentences"][0])
    assert [set(step) for step in answer["steps"]] == [{"node", "title", "seconds", "detail"}] * 5

    (listed,) = as_json(run(folder, "papers", "--json"))
    assert listed["paper_id"] == row["paper_id"]
    assert listed["read_by"] == "text"
    assert run(folder, "remove", row["paper_id"]).returncode == 0
    assert as_json(run(folder, "papers", "--json")) == []


def test_a_conversation_goes_on(folder, sample):
    first = as_json(run(folder, "ask", "What is BM25?", "--paper", sample, "--json"))
    more = ("--conversation", first["conversation_id"], "--paper", sample, "--json")
    second = as_json(run(folder, "ask", "And the dense path?", *more))
    assert second["conversation_id"] == first["conversation_id"]


def test_the_app_runs_without_torch(tmp_path, sample):
    program = ("-c", WITHOUT_TORCH)
    both = {"EMBEDDING_MODELS": "use-multilingual,all-MiniLM-L6-v2"}
    (row,) = as_json(run(tmp_path, "ingest", sample, "--json", program=program, **both))
    assert row["chunks"] > 5
    asked = run(tmp_path, "ask", "What is BM25?", "--json", program=program, **both)
    assert as_json(asked)["citations"]
    parts = as_json(run(tmp_path, "doctor", "--json", program=program, **both))
    states = {part["part"]: part["state"] for part in parts}
    assert states["embeddings use-multilingual"] == "on"
    assert states["embeddings all-MiniLM-L6-v2"] == "off"


def test_doctor_shows_every_part(folder):
    parts = as_json(run(folder, "doctor", "--json"))
    assert all(set(part) == {"part", "state", "why", "hint"} for part in parts)
    states = {part["part"]: part["state"] for part in parts}
    assert states["database"] == states["pgvector"] == states["reading"] == "on"
    assert states["chat model"] == states["reranker"] == "off"


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ({"DATABASE_URL": "postgresql://nobody:s3cret@127.0.0.1:9/none"}, "database"),
        ({"LLM_BASE_URL": "http://127.0.0.1:9/v1", "LLM_MODEL": "x"}, "chat model"),
    ],
)
def test_doctor_names_what_is_broken_and_hides_the_rest_of_nothing(folder, setting, part):
    done = run(folder, "doctor", "--json", **setting)
    parts = {row["part"]: row for row in as_json(done)}
    assert parts[part]["state"] == "broken"
    assert parts[part]["hint"]
    assert parts["reading"]["state"] == "on"
    assert "s3cret" not in done.stdout + done.stderr


BAD_FILES = {
    "empty.pdf": (b"", "EMPTY_FILE"),
    "archive.pdf": (b"PK\x03\x04 no PDF", "NOT_A_PDF"),
    "html.pdf": (b"<!doctype html><html><body>Sign in</body></html>", "NO_TEXT"),
    "head only.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "DAMAGED"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gets_one_sentence_and_leaves_nothing(tmp_path, name):
    data, code = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    done = run(tmp_path / "data", "ingest", path, "--json")
    (row,) = as_json(done)
    assert done.returncode == 1
    assert row["error"]["code"] == code
    assert row["error"]["message"]
    assert as_json(run(tmp_path / "data", "papers", "--json")) == []
    assert "Traceback" not in done.stderr


def test_one_bad_file_does_not_stop_the_others(tmp_path, sample):
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"nothing")
    done = run(tmp_path / "data", "ingest", bad, sample, "--json")
    first, second = as_json(done)
    assert "error" in first
    assert second["pages"] == 3
    assert done.returncode == 0


def test_real_bad_files(tmp_path, shared):
    edge = shared / "pdf_edge"
    cases = {
        edge / "encrypted__issue6010_1.pdf": "PASSWORD_NEEDED",
        edge / "empty__empty.pdf": "NO_TEXT",
    }
    rows = ingest(tmp_path / "data", *cases)
    assert [row["error"]["code"] for row in rows] == list(cases.values())


def test_a_password_opens_an_encrypted_file(tmp_path, shared):
    locked = shared / "pdf_edge" / "encrypted__docling_user_1234_paper_page.pdf"
    done = run(tmp_path, "ingest", locked, "--password", "1234", "--json")
    assert as_json(done)[0]["chunks"] > 0
    wrong = run(tmp_path, "ingest", locked, "--password", "4321", "--json")
    assert as_json(wrong)[0]["error"]["code"] == "PASSWORD_WRONG"


def test_odd_file_names_are_only_names(tmp_path, sample):
    odd = tmp_path / "论文 <|endoftext|> ..%2f..%2fetc.pdf"
    odd.write_bytes(sample.read_bytes())
    (row,) = ingest(tmp_path / "data", odd)
    assert row["pages"] == 3
    asked = run(tmp_path / "data", "ask", "什么是 BM25？<|endoftext|>", "--json")
    assert as_json(asked)["answer"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", "The question is empty"),
        ("   ", "The question is empty"),
        ("why " * 5000, "characters"),
    ],
)
def test_questions_that_cannot_be_asked(folder, sample, question, words):
    done = run(folder, "ask", question, "--paper", sample, "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_not_there_is_said(folder):
    assert (
        "cannot be read"
        in as_json(run(folder, "ingest", "no.pdf", "--json"))[0]["error"]["message"]
    )
    unknown = run(folder, "ask", "x?", "--paper", "00000000-0000-0000-0000-000000000000")
    assert unknown.returncode == 1
    assert run(folder, "ask").returncode == 2
    assert run(folder, "search", "x", "-k", "0").returncode == 2
    assert run(folder, "ask", "x", "--intent", "poetry").returncode == 2


def test_a_setting_that_cannot_be_used_is_named(folder):
    done = run(folder, "papers", LLM_CONTEXT_TOKENS="many")
    assert done.returncode == 1
    assert "LLM_CONTEXT_TOKENS" in done.stderr
    assert "Traceback" not in done.stderr


def test_arxiv_is_searched_and_a_paper_of_it_added(folder):
    with loopback_arxiv() as arxiv:
        sites = {"ARXIV_URL": arxiv.site, "ARXIV_API_URL": arxiv.url, "ARXIV_SECONDS": "0"}
        found = as_json(run(folder, "arxiv", "检索 fusion", "-n", "2", "--json", **sites))
        assert found["meta"]["source"] == "arxiv"
        assert found["data"]["topic"] == "retrieval fusion"
        assert {paper["arxiv_id"] for paper in found["data"]["papers"]} == {
            "2301.00001",
            "math/0301001",
        }
        arxiv.answers = [EMPTY]
        none = run(folder, "arxiv", "fusion", "--json", **sites)
        assert none.returncode == 1
        assert as_json(none)["error"]["code"] == "EMPTY_RESULT"

        arxiv.pages["/html/2301.00001"] = [ok(paper_page(8))]
        added = run(folder, "add", "arXiv:2301.00001", "10.1145/1.2", "--json", **sites)
        assert added.returncode == 0
        paper, refused = as_json(added)
        assert (paper["title"], paper["duplicate"]) == ("On joining", False)
        assert refused["error"]["code"] == "NOT_FETCHABLE"
        assert run(folder, "add", "nonsense", "--json", **sites).returncode == 1
