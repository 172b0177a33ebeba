"""The chat model: any OpenAI-compatible server, through langchain-openai.

A reply is read on a thread with an event loop of its own. So a request can be closed at any
moment, also while the server is silent: cancelling the task closes the connection.
"""

import asyncio
import contextlib
import email.utils
import json
import queue
import random
import ssl
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit
from uuid import uuid4

from pydantic import SecretStr

from core.config import DEEPSEEK_URL, OPENAI_URL, Settings
from core.errors import Cancelled, ModelFailed
from core.models.budget import PER_MESSAGE, Message, estimate_messages, estimate_tokens
from core.models.failures import model_failure
from core.models.sound import sound, sound_json
from core.types import Usage
from core.wording import say

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from openai import APIStatusError

DEEPSEEK_MODEL = "deepseek-chat"
OPENAI_MODEL = "gpt-5.4-mini"

_CONNECT_SECONDS = 10.0
_ATTEMPTS = 3
_LONGEST_WAIT = 20.0
_CANCEL_AGAIN_SECONDS = 0.05
_POLL_SECONDS = 0.05
_FORM_SIGNS = ("response_format", "json schema", "json_schema", "grammar")
"""In a refusal: the server cannot keep to the form that was asked for."""
_NO_KEY = "none"
"""Servers without keys (Ollama, vLLM) ignore it; the client insists on having one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the chat model is; `key_setting` is the setting its key came from."""

    url: str
    model: str
    key: SecretStr
    key_setting: str


def endpoint(settings: Settings) -> Endpoint | None:
    """Return the server that the settings name, or None when they name none.

    LLM_BASE_URL and LLM_API_KEY come first, then DEEPSEEK_API_KEY, then OPENAI_API_KEY; LLM_MODEL
    overrides the model of each. A provider's own key only goes to that provider, or to a server
    on this machine, never to a stranger whom LLM_BASE_URL names.
    """
    url, model = settings.llm_base_url, settings.llm_model
    for setting, key, home, default in (
        ("LLM_API_KEY", settings.llm_api_key, OPENAI_URL, OPENAI_MODEL),
        ("DEEPSEEK_API_KEY", settings.deepseek_api_key, DEEPSEEK_URL, DEEPSEEK_MODEL),
        ("OPENAI_API_KEY", settings.openai_api_key, OPENAI_URL, OPENAI_MODEL),
    ):
        if not key.get_secret_value():
            continue
        if setting == "LLM_API_KEY":
            return Endpoint(url or home, model or _default_model(url or home), key, setting)
        if not url or _host(url) in (_host(home), "localhost", "127.0.0.1", "::1"):
            return Endpoint(url or home, model or default, key, setting)
    if not url:
        return None
    return Endpoint(url, model or _default_model(url), SecretStr(_NO_KEY), "LLM_API_KEY")


def chat_model(settings: Settings) -> "ChatModel | None":
    """Return the chat model of the settings, or None: Lectern then works by extraction."""
    place = endpoint(settings)
    return ChatModel(place, settings.llm_timeout) if place else None


def vision_model(settings: Settings) -> "ChatModel | None":
    """Return the model that can see (VISION_MODEL, on the chat model's server), or None."""
    place = endpoint(settings) if settings.vision_model else None
    if place is None:
        return None
    return ChatModel(replace(place, model=settings.vision_model), settings.llm_timeout)


class ChatModel:
    """One model on one server; may be used by many threads at once."""

    def __init__(self, place: Endpoint, timeout: float = 60.0) -> None:
        self.endpoint = place
        self.timeout = timeout
        self._report_usage = True
        self._formats = ["json_schema", "json_object"]

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self.endpoint.model

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Certificates are read once: that takes 55 ms, and each reply has a client of its own."""
        from httpx2 import create_ssl_context

        return create_ssl_context()

    @cached_property
    def _blocking_http(self) -> Any:
        """Never connects: ChatOpenAI would else build one of its own, certificates and all."""
        from openai import DefaultHttpxClient

        return DefaultHttpxClient(verify=self._tls)

    def stream(
        self,
        messages: Sequence[Message],
        cancelled: threading.Event | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> "ChatReply":
        """Send a prompt; the reply yields the answer's text as it comes.

        With a JSON `schema` the server is asked to keep to it; one that cannot is asked for any
        JSON object, or for nothing special: see `core.models.structured`, which reads the reply.

        A 429 or 5xx before the first token is tried again, up to three times, after Retry-After
        or 0.5, 1 s; the first token must come within the timeout (LLM_TIMEOUT) in all, and each
        later one within the timeout of the one before. Failures are raised by the reply, also
        when the settings cannot work (no LLM_MODEL, a key with odd characters).
        """
        prompt = _Prompt(
            [_wire(message._replace(content=_encodable(message.content))) for message in messages],
            estimate_messages(messages),
            schema=schema,
        )
        return ChatReply(self, prompt, cancelled or threading.Event())

    def converse(
        self,
        messages: Sequence["BaseMessage"],
        tools: Sequence[Mapping[str, Any]],
        cancelled: threading.Event,
    ) -> "ChatReply":
        """Send a conversation in which tools (in OpenAI's form) may be called; else like `stream`.

        The reply's `calls` are what the model wants called, once it has been read.
        """
        size = estimate_conversation(messages) + estimate_tokens(json.dumps(list(tools)))
        return ChatReply(self, _Prompt(list(messages), size, tools=tools), cancelled)

    def check(self) -> None:
        """Ask the server for its list of models: is it there, and does it take the key?

        Raises:
            ModelFailed: it is not, or does not.
        """
        self._check_settings()
        from openai import OpenAI, OpenAIError

        key = self.endpoint.key.get_secret_value()
        seconds = min(self.timeout, _CONNECT_SECONDS)
        try:
            with OpenAI(
                base_url=self.endpoint.url, api_key=key, timeout=seconds, max_retries=0
            ) as client:
                client.models.list()
        except (OpenAIError, ValueError) as error:
            raise self.failure(error, started=False) from error

    def load(self) -> None:
        """Import and build the client now, so that the first question need not wait for it."""
        self._client()

    def failure(self, error: Exception, *, started: bool) -> ModelFailed:
        """Say what an error of the client means to the user."""
        return model_failure(
            error,
            key_setting=self.endpoint.key_setting,
            model=self.name,
            url=self.endpoint.url,
            timeout=self.timeout,
            started=started,
        )

    def _check_settings(self) -> None:
        place = self.endpoint
        key = place.key.get_secret_value()
        if not place.model:
            raise ModelFailed(
                say("No chat model is named."), hint=say("Set LLM_MODEL beside LLM_BASE_URL.")
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ModelFailed(
                say(
                    "The key in {setting} has characters that no key has.",
                    setting=place.key_setting,
                ),
                hint=say("Copy the key into {setting} again.", setting=place.key_setting),
                code="MODEL_KEY",
            )
        if urlsplit(place.url).scheme not in ("http", "https") or not _host(place.url):
            raise ModelFailed(
                say("LLM_BASE_URL is not a web address."),
                hint=say("It looks like http://localhost:11434/v1."),
            )

    def _client(self, http: Any = None) -> "BaseChatModel":
        from langchain.chat_models import init_chat_model
        from openai import Timeout

        return init_chat_model(
            self.endpoint.model,
            model_provider="openai",
            base_url=self.endpoint.url,
            api_key=self.endpoint.key,
            timeout=Timeout(self.timeout, connect=min(self.timeout, _CONNECT_SECONDS)),
            max_retries=0,
            stream_usage=self._report_usage,
            use_responses_api=False,
            http_client=self._blocking_http,
            http_async_client=http,
        )

    async def send(
        self,
        prompt: "_Prompt",
        chunks: "queue.SimpleQueue[Any]",
    ) -> None:
        """Put the chunks of one reply on a queue; close the connection when cancelled."""
        self._check_settings()
        from openai import DefaultAsyncHttpxClient

        async with (
            DefaultAsyncHttpxClient(verify=self._tls) as http,
            asyncio.timeout(self.timeout) as limit,
        ):
            stream, chunk = await self._first_chunk(http, prompt)
            async with contextlib.aclosing(stream):
                while chunk is not None:
                    chunks.put(chunk)
                    limit.reschedule(asyncio.get_running_loop().time() + self.timeout)
                    chunk = await anext(stream, None)

    async def _first_chunk(
        self, http: Any, prompt: "_Prompt"
    ) -> "tuple[Any, AIMessageChunk | None]":
        from openai import APIStatusError

        for attempt in range(_ATTEMPTS + len(self._formats)):
            form = self._response_format(prompt.schema) if prompt.schema else {}
            if prompt.tools:
                form["tools"] = list(prompt.tools)
            stream: AsyncIterator[AIMessageChunk] = self._client(http).astream(
                prompt.messages, **form
            )
            try:
                return stream, await anext(stream, None)
            except APIStatusError as error:
                wait = self._wait_before_retry(error, attempt)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _response_format(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return how the reply's form is asked for, as far as the server understands it.

        In `extra_body`: langchain-openai has a way of its own with `response_format`, which loses
        the usage that the server reports.
        """
        if "json_schema" in self._formats:
            named = {"name": "reply", "schema": dict(schema)}
            form: dict[str, Any] = {"type": "json_schema", "json_schema": named}
        elif self._formats:
            form = {"type": "json_object"}
        else:
            return {}
        return {"extra_body": {"response_format": form}}

    def _wait_before_retry(self, error: "APIStatusError", attempt: int) -> float | None:
        """Return the seconds to wait, or None when trying again is of no use."""
        if error.status_code in (400, 422) and self._formats and _is_about_form(error.message):
            self._formats = self._formats[1:]
            return 0.0
        if attempt >= _ATTEMPTS - 1:
            return None
        if error.status_code in (400, 422) and "stream_options" in error.message:
            self._report_usage = False  # an older server: usage is estimated from here on
            return 0.0
        if error.status_code != 429 and error.status_code < 500:
            return None
        asked = _retry_after(error.response.headers.get("retry-after", ""))
        wait = 0.5 * 2**attempt * random.uniform(1.0, 1.25) if asked is None else asked
        return wait if wait <= min(_LONGEST_WAIT, self.timeout / 2) else None


class _Prompt(NamedTuple):
    """Messages as LangChain takes them, and about how many tokens they are with all beside them."""

    messages: list[Any]
    tokens: int
    schema: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] = ()


class ToolCall(NamedTuple):
    """What a model wants called; `arguments` are None when they are no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


class ChatReply(Iterator[str]):
    """An answer as it comes. `text` is what has come so far, whatever happened then.

    Iterating raises ModelFailed when the model fails, and Cancelled when the user stopped it.
    """

    def __init__(
        self,
        model: ChatModel,
        prompt: _Prompt,
        cancelled: threading.Event,
    ) -> None:
        self.text = ""
        self.finish_reason = ""
        self._model = model
        self._prompt = prompt
        self._calling: list[AIMessageChunk] = []
        self._cancelled = cancelled
        self._reported: Usage | None = None
        self._over = False
        self._chunks: queue.SimpleQueue[AIMessageChunk | _End] = queue.SimpleQueue()
        self._request = _Request(model.send(prompt, self._chunks), self._chunks)

    @property
    def usage(self) -> Usage:
        """The tokens the server reported, or an estimate that says it is one."""
        if self._reported:
            return self._reported
        return Usage(
            prompt_tokens=self._prompt.tokens,
            completion_tokens=estimate_tokens(self.text),
            estimated=True,
        )

    @property
    def calls(self) -> list[ToolCall]:
        """The tools that the model wants called, each call with an id of its own.

        Servers count ids anew in every reply; that of a malformed call is like no other.
        """
        if not self._calling:
            return []
        whole = sum(self._calling[1:], self._calling[0])
        found: dict[str, ToolCall] = {}
        for piece in whole.tool_call_chunks:
            given = _arguments(piece["args"] or "")
            theirs = piece["id"] if given is not None and piece["id"] not in found else None
            own = theirs or uuid4().hex
            found[own] = ToolCall(own, sound(piece["name"] or ""), given)
        return list(found.values())

    def read(self) -> str:
        """Wait for the whole answer."""
        for _ in self:
            pass
        return self.text

    def close(self) -> None:
        """Close the connection, if it is still open. Does not wait for the network."""
        self._over = True
        self._request.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __next__(self) -> str:
        while not self._over:
            if self._cancelled.is_set():
                self.close()
                raise Cancelled(say("The answer was stopped."))
            with contextlib.suppress(queue.Empty):
                piece = self._take(self._chunks.get(timeout=_POLL_SECONDS))
                if piece:
                    return piece
        raise StopIteration

    def _take(self, item: "AIMessageChunk | _End") -> str:
        if isinstance(item, _End):
            self._over = True
            self._check_end(item.error)
            return ""
        self.finish_reason = item.response_metadata.get("finish_reason") or self.finish_reason
        if item.usage_metadata:
            self._reported = Usage(
                prompt_tokens=item.usage_metadata["input_tokens"],
                completion_tokens=item.usage_metadata["output_tokens"],
            )
        if item.tool_call_chunks:
            self._calling.append(item)
        piece = sound(str(item.text))
        self.text += piece
        return piece

    def _check_end(self, error: BaseException | None) -> None:
        if isinstance(error, ModelFailed):
            raise error
        if isinstance(error, Exception):
            raise self._model.failure(error, started=bool(self.text or self._calling)) from error
        if not self.finish_reason:
            raise ModelFailed(
                say("The model's answer broke off before its end."),
                hint=say("Ask again; what had come is kept."),
                code="MODEL_CUT_OFF",
            )
        if not self.text.strip() and not self._calling:
            raise ModelFailed(
                say(
                    "The model gave an empty answer (it ended with '{ending}').",
                    ending=self.finish_reason[:40],
                ),
                hint=say("Ask again, or try another LLM_MODEL."),
                code="MODEL_MALFORMED",
            )


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


class _Request:
    """Runs one coroutine on a thread of its own, and puts an _End on the queue after it."""

    def __init__(self, work: Coroutine[Any, Any, None], ends: "queue.SimpleQueue[Any]") -> None:
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(work)
        self._ends = ends
        threading.Thread(target=self._run, name="chat-reply", daemon=True).start()

    def cancel(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: it is over already
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        # Again until it takes: a cancellation was seen to be swallowed below the HTTP client, and
        # the model then wrote on to its last word.
        if not self._task.done():
            self._task.cancel()
            self._loop.call_later(_CANCEL_AGAIN_SECONDS, self._cancel)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(asyncio.wait([self._task]))
            error = None if self._task.cancelled() else self._task.exception()
            self._ends.put(_End(error))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


def _wire(message: Message) -> tuple[str, str | list[str | dict[str, Any]]]:
    """Return a message as LangChain takes it, pictures after the text."""
    if not message.images:
        return message.role, message.content
    content: list[str | dict[str, Any]] = [{"type": "text", "text": message.content}]
    content += [{"type": "image_url", "image_url": {"url": url}} for url in message.images]
    return message.role, content


def _is_about_form(message: str) -> bool:
    said = message.casefold()
    return any(sign in said for sign in _FORM_SIGNS)


def estimate_conversation(messages: Sequence["BaseMessage"]) -> int:
    """Estimate the tokens of a conversation's messages, calls of tools among them."""
    return sum(
        estimate_tokens(str(message.text))
        + sum(estimate_tokens(json.dumps(call)) for call in getattr(message, "tool_calls", ()))
        + PER_MESSAGE
        for message in messages
    )


def _arguments(text: str) -> dict[str, Any] | None:
    """Return a call's arguments; nothing at all is a call without any."""
    try:
        value = sound_json(json.loads(text.strip() or "{}"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _encodable(text: str) -> str:
    """Replace lone surrogates, which JSON in UTF-8 cannot carry, by '?'."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _default_model(url: str) -> str:
    """Return the model for a provider that we know by its host, or '' for others."""
    known = {_host(DEEPSEEK_URL): DEEPSEEK_MODEL, _host(OPENAI_URL): OPENAI_MODEL}
    return known.get(_host(url), "")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _retry_after(header: str) -> float | None:
    """Read a Retry-After header, seconds or a date (RFC 9110 §10.2.3), into seconds from now."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(header))
    try:
        date = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, date.timestamp() - time.time())
