"""A stand-in for a model server on loopback: real HTTP, its first token after a simulated prefill.

What a real model does before its first token is proportional to the prompt; here that is a sleep
of prompt tokens / rate. Everything else (client, connection, stream) is real.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.models.budget import estimate_tokens

_ANSWER = ("The ", "passages ", "say ", "so ", "[1].")


@contextmanager
def prefill_server(tokens_per_second: float) -> Iterator[str]:
    """Yield the base address (LLM_BASE_URL) of a server that reads prompts at that rate."""
    handler = type("Handler", (_Handler,), {"tokens_per_second": tokens_per_second})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    tokens_per_second: float

    def log_message(self, format: str, *args: Any) -> None:
        """Keep stderr for the bench itself."""

    def do_POST(self) -> None:
        """Answer a chat completion as a stream."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = sum(estimate_tokens(message["content"]) for message in body["messages"])
        time.sleep(prompt / self.tokens_per_second)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in _ANSWER:
            self._event({"delta": {"role": "assistant", "content": piece}, "finish_reason": None})
        self._event({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, choice: dict[str, Any]) -> None:
        data = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "loopback",
            "choices": [{"index": 0, **choice}],
        }
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        self.wfile.flush()
