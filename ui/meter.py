"""What answers cost: tokens, and money where the prices are set, against the whole text."""

from collections.abc import Iterable, Mapping
from typing import Any

from core.changes import spent
from core.config import Settings
from ui.language import _


def of_turn(settings: Settings, usage: Mapping[str, Any]) -> str:
    """Return one line for a turn that a model answered, or ''."""
    if not spent(usage):
        return ""
    whole = usage.get("full_text_tokens", 0)
    line = _("{spent} prompt tokens instead of {whole} for the whole text").format(
        spent=f"{usage.get('prompt_tokens', 0):,}", whole=f"{whole:,}"
    )
    if usage.get("estimated"):
        line += " " + _("(estimated)")
    price = cost(settings, usage)
    return line if price is None else f"{line} · {_money(price)}"


def of_conversation(settings: Settings, usages: Iterable[Mapping[str, Any]]) -> str:
    """Return one line for all turns that a model answered, or ''."""
    written = [usage for usage in usages if spent(usage)]
    if not written:
        return ""
    tokens, whole = sum(map(spent, written)), sum(u.get("full_text_tokens", 0) for u in written)
    line = _("{tokens} tokens so far; with the whole papers in every prompt it would be {whole}")
    line = line.format(tokens=f"{tokens:,}", whole=f"{whole:,}")
    prices = [cost(settings, usage) for usage in written]
    known = [price for price in prices if price is not None]
    return f"{line} · {_money(sum(known))}" if known else line


def cost(settings: Settings, usage: Mapping[str, Any]) -> float | None:
    """Return what a turn cost in the currency of the prices, or None where none are set."""
    if not (settings.llm_price_in or settings.llm_price_out):
        return None
    prompt = usage.get("prompt_tokens", 0) * settings.llm_price_in
    answer = usage.get("completion_tokens", 0) * settings.llm_price_out
    return float(prompt + answer) / 1_000_000


def _money(amount: float) -> str:
    return _("cost {amount}").format(amount=f"{amount:.4f}")
