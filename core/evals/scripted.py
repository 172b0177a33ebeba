"""A model and an arXiv on loopback that do what a case says, over real HTTP."""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ENTRY = (
    "<entry><id>http://arxiv.org/abs/2301.00001v1</id><title>On joining</title>"
    "<published>2023-01-01T00:00:00Z</published><updated>2023-01-01T00:00:00Z</updated>"
    "<summary>Joining two rankings lowers the error by 12%.</summary>"
    "<author><name>A. Author</name></author><category term='cs.IR'/></entry>"
)
FEED = (
    "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:o='http://a9.com/-/spec/opensearch/1.1/'>"
    "<title>q</title><o:totalResults>{total}</o:totalResults>{entries}</feed>"
)


@dataclass(frozen=True, slots=True)
class Say:
    """One reply of the model: text, then calls. `cut`: the stream breaks off before its end.

    `wait`: seconds of silence before it.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    status: int = 200
    cut: bool = False
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of arXiv's API."""

    body: str = FEED.format(total=1, entries=ENTRY)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


EMPTY = Page(FEED.format(total=0, entries=""))


@dataclass
class Servers:
    """The script: what comes next, the last for good; and how often the model was asked.

    `answers` makes the model's text from the request instead.
    """

    url: str = ""
    says: deque[Say] = field(default_factory=deque)
    pages: deque[Page] = field(default_factory=deque)
    asked: int = 0
    answers: Callable[[dict[str, Any]], str] | None = None

    def script(self, says: Sequence[Say], pages: Sequence[Page]) -> None:
        """Begin anew."""
        self.says, self.pages, self.asked = deque(says), deque(pages), 0


@contextmanager
def scripted() -> Iterator[Servers]:
    """Yield servers while they run: the model under `/v1`, arXiv's API under `/api`."""
    servers = Servers()
    handler = type("Handler", (_Handler,), {"script": servers})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    servers.url = f"http://127.0.0.1:{http.server_address[1]}"
    try:
        yield servers
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    script: Servers

    def log_message(self, format: str, *args: Any) -> None:
        """Keep stderr for the eval itself."""

    def do_GET(self) -> None:
        """Answer as arXiv."""
        page = _next(self.script.pages)
        self._send(page.status, page.body, dict(page.headers))

    def do_POST(self) -> None:
        """Answer as the model, as a stream."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.script.asked += 1
        answers = self.script.answers
        say = Say(answers(body)) if answers else _next(self.script.says)
        time.sleep(say.wait)
        if say.status != 200:
            self._send(say.status, '{"error": {"message": "scripted"}}', {"Retry-After": "0"})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta in _deltas(say):
            self._event({"delta": delta, "finish_reason": None})
        if not say.cut:
            self._event({"delta": {}, "finish_reason": "tool_calls" if say.calls else "stop"})
            self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, status: int, body: str, headers: dict[str, str]) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _event(self, choice: dict[str, Any]) -> None:
        data = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, **choice}],
        }
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()


def _next(left: deque[Any]) -> Any:
    return left.popleft() if len(left) > 1 else left[0]


def _deltas(say: Say) -> Iterator[dict[str, Any]]:
    if say.text:
        yield {"role": "assistant", "content": say.text}
    for index, (name, given) in enumerate(say.calls):
        function = {"name": name, "arguments": given}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        yield {"role": "assistant", "tool_calls": [call]}
