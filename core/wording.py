"""Marks the sentences a reader may see, so that they can be collected and translated."""

from typing import TypeVar

Text = TypeVar("Text", bound=str)


def say(template: str, /, **values: object) -> str:
    """Return `template.format(**values)`: plain English, whatever language the page is in.

    A literal template is what the tools that collect messages look for, so values never go into
    it by an f-string. The pages translate the finished sentence (see `ui.catalogue`): a number is
    recognised by its format (`{count:d}`), and a value that is a sentence of core's own by its
    name: `{reason}`, `{cause}` or `{hint}`.
    """
    return template.format(**values)


def phrase(text: Text) -> Text:
    """Mark a sentence that is kept as it stands: filled by `say`, or translated, where it is used."""
    return text
