"""What the chat client's exceptions mean to a user: one ModelFailed with a code and a hint."""

from typing import TYPE_CHECKING

from core.errors import ModelFailed
from core.wording import say

if TYPE_CHECKING:
    from openai import APIError, APIStatusError

_CONTEXT_SIGNS = (
    "context length",
    "context window",
    "context size",
    "context_length",
    "prompt is too long",
    "input tokens exceed",
    "too many tokens",
)
_AGAIN = say("Ask again in a moment.")


def model_failure(
    error: Exception, *, key_setting: str, model: str, url: str, timeout: float, started: bool
) -> ModelFailed:
    """Map an exception of langchain-openai or openai to ModelFailed.

    The server's own words are never shown: they may repeat parts of a key.

    Args:
        error: what the client raised.
        key_setting: the setting that the key came from.
        model: the model's name, for the message.
        url: the server's address, for the message.
        timeout: seconds that were waited for, for the message.
        started: whether a part of the answer had come already.
    """
    import openai

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ModelFailed(
            say("The model server said nothing for {seconds:g} s.", seconds=timeout),
            hint=say("Ask again, or set LLM_TIMEOUT higher."),
            code="MODEL_TIMEOUT",
        )
    if isinstance(error, openai.APIStatusError):
        return _status_failure(error, key_setting, model)
    if isinstance(error, openai.APIConnectionError):
        return _connection_failure(url, started)
    if isinstance(error, openai.APIError):
        return _stream_failure(error)
    return ModelFailed(
        say("The model server's answer is not what an OpenAI-compatible server sends."),
        hint=say("Check LLM_BASE_URL (it usually ends in /v1), then ask again."),
        code="MODEL_MALFORMED",
    )


def _connection_failure(url: str, started: bool) -> ModelFailed:
    if started:
        return ModelFailed(
            say("The connection to the model broke off in the middle of the answer."),
            hint=say("Ask again; what had come is kept."),
            code="MODEL_CUT_OFF",
        )
    return ModelFailed(
        say("The model server at {url} cannot be reached.", url=_without_secrets(url)),
        hint=say("Check the network and LLM_BASE_URL, and that the server runs."),
        code="MODEL_NETWORK",
    )


def _status_failure(error: "APIStatusError", key_setting: str, model: str) -> ModelFailed:
    status = error.status_code
    if _is_context(error):
        return _too_long()
    if status in (401, 403):
        return ModelFailed(
            say(
                "The model server refused the key in {setting} ({status:d}).",
                setting=key_setting,
                status=status,
            ),
            hint=say("Set {setting} to a valid key for this server.", setting=key_setting),
            code="MODEL_KEY",
        )
    if status == 402:
        return ModelFailed(
            say(
                "The account of the key in {setting} has no credit left (402).",
                setting=key_setting,
            ),
            hint=say("Top up the account, or set {setting} to another key.", setting=key_setting),
            code="MODEL_KEY",
        )
    if status == 429:
        return ModelFailed(
            say("The model server asks to slow down (429), or the account's quota is used up."),
            hint=say(
                "Ask again in a moment. If it stays so, look at the quota of the key in {setting}.",
                setting=key_setting,
            ),
            code="MODEL_RATE_LIMIT",
        )
    if status >= 500:
        return _server_error(status)
    if status == 404:
        return ModelFailed(
            say(
                "The model server does not know the model {model} or the address (404).",
                model=model,
            ),
            hint=say("Check LLM_MODEL, and LLM_BASE_URL (it usually ends in /v1)."),
        )
    return ModelFailed(
        say("The model server refused the request ({status:d}).", status=status),
        hint=say("Check that LLM_MODEL ({model}) is a chat model of this server.", model=model),
    )


def _stream_failure(error: "APIError") -> ModelFailed:
    """An error that the server sent within the stream."""
    return _too_long() if _is_context(error) else _server_error(None)


def _server_error(status: int | None) -> ModelFailed:
    if status is None:
        message = say("The model server had an error.")
    else:
        message = say("The model server had an error ({status:d}).", status=status)
    return ModelFailed(message, hint=_AGAIN, code="MODEL_SERVER")


def _too_long() -> ModelFailed:
    return ModelFailed(
        say("The prompt is longer than the model's context."),
        hint=say("Set LLM_CONTEXT_TOKENS to what the model takes."),
        code="MODEL_CONTEXT",
    )


def _is_context(error: "APIError") -> bool:
    status = getattr(error, "status_code", 400)
    said = f"{error.code} {error.type} {error.message}".casefold()
    return status in (400, 413, 422, 500) and any(sign in said for sign in _CONTEXT_SIGNS)


def _without_secrets(url: str) -> str:
    return url.split("?")[0].rpartition("@")[2]
