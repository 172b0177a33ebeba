"""Marks the sentences a reader may see, so that they can be collected and translated."""


def say(template: str, **values: object) -> str:
    """Return `template.format(**values)`: plain English, whatever language the page is in.

    A literal template is what the tools that collect messages look for, so values never go into
    it by an f-string. The pages translate the finished sentence: see `ui.catalogue`.
    """
    return template.format(**values)
