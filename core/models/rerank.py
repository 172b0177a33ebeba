"""Cohere's reranker, through its own client."""

import math
import ssl
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from core.config import Settings
from core.errors import RerankFailed
from core.wording import say

if TYPE_CHECKING:
    from cohere import ClientV2, V2RerankResponse
    from cohere.core.api_error import ApiError

RERANK_SECONDS = 4.0
"""A reranker slower than this costs more than it gives; the fused order is there already."""


class Reranker:
    """Orders passages by how well they answer a query."""

    def __init__(
        self, model: str, key: SecretStr, url: str, timeout: float = RERANK_SECONDS
    ) -> None:
        self.model = model
        self._key = key
        self._url = url
        self._timeout = timeout

    def rerank(self, query: str, texts: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return (index into texts, relevance from 0 to 1) of the best k, best first.

        One try, no retries: a search must not wait for a second one.

        Raises:
            RerankFailed: codes RERANK_KEY, RERANK_RATE_LIMIT, RERANK_NETWORK, RERANK_SERVER,
                RERANK_MALFORMED.
        """
        if not texts or k < 1:
            return []
        response = self._ask(query, list(texts), min(k, len(texts)))
        return sorted(_ranked(response, len(texts)), key=lambda pair: -pair[1])

    def check(self) -> None:
        """Send the smallest request: is the server there, and does it take the key?

        Raises:
            RerankFailed: it is not, or does not.
        """
        self.rerank("a", ["a"], 1)

    def _ask(self, query: str, texts: list[str], k: int) -> "V2RerankResponse":
        import httpx
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        client = self._client()
        try:
            with client:
                return client.rerank(
                    model=self.model,
                    query=query,
                    documents=texts,
                    top_n=k,
                    request_options={"max_retries": 0},
                )
        except ParsingError as error:
            raise _malformed() from error
        except ApiError as error:
            raise _refused(error) from error
        except httpx.HTTPError as error:
            raise RerankFailed(
                say("Cohere did not answer within {seconds:g} s.", seconds=self._timeout),
                hint=say("Check the network and COHERE_BASE_URL."),
                code="RERANK_NETWORK",
            ) from error

    def _client(self) -> "ClientV2":
        import httpx
        from cohere import ClientV2

        key = self._key.get_secret_value()
        if not (key.isascii() and key.isprintable()):
            raise _bad_key()
        http = httpx.Client(verify=self._tls, timeout=self._timeout, follow_redirects=True)
        return ClientV2(api_key=key, base_url=self._url, timeout=self._timeout, httpx_client=http)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Certificates are read once: that takes 55 ms, and each request has its own client."""
        import httpx

        return httpx.create_ssl_context()


def reranker(settings: Settings) -> Reranker | None:
    """Return Cohere's reranker when COHERE_API_KEY is set, else None: the fused order stays."""
    if not settings.cohere_api_key.get_secret_value():
        return None
    return Reranker(settings.cohere_rerank_model, settings.cohere_api_key, settings.cohere_base_url)


def _ranked(response: "V2RerankResponse", texts: int) -> list[tuple[int, float]]:
    """Return the (index, score) pairs; the client itself does not check what came."""
    pairs: list[tuple[Any, Any]] = [
        (getattr(result, "index", None), getattr(result, "relevance_score", None))
        for result in response.results or []
    ]
    known = {index for index, _ in pairs if isinstance(index, int) and 0 <= index < texts}
    if not pairs or len(known) != len(pairs) or not all(_is_score(score) for _, score in pairs):
        raise _malformed()
    return [(index, float(score)) for index, score in pairs]


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _refused(error: "ApiError") -> RerankFailed:
    status = error.status_code or 0
    if status in (401, 403):
        return _bad_key()
    if status == 429:
        return RerankFailed(
            say("Cohere asks to slow down (429)."),
            hint=say("Trial keys allow few calls a minute; the results keep their fused order."),
            code="RERANK_RATE_LIMIT",
        )
    if 200 <= status < 300:
        return _malformed()
    return RerankFailed(
        say("Cohere answered with an error ({status:d}).", status=status),
        hint=say("Check COHERE_RERANK_MODEL and COHERE_BASE_URL; else it is Cohere's own trouble."),
        code="RERANK_SERVER",
    )


def _bad_key() -> RerankFailed:
    return RerankFailed(
        say("Cohere refused the key in COHERE_API_KEY."),
        hint=say("Set COHERE_API_KEY to a valid key, or unset it."),
        code="RERANK_KEY",
    )


def _malformed() -> RerankFailed:
    return RerankFailed(
        say("Cohere's answer makes no sense."),
        hint=say("Check COHERE_BASE_URL."),
        code="RERANK_MALFORMED",
    )
