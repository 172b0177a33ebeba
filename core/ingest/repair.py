"""Saving what is left of a PDF that was cut off: its objects under a new page tree.

A download that broke off has lost the index at its end, and pages are often packed in object
streams, so that readers find none. Whatever whole objects there are, are written out plainly.
"""

import re
import zlib

_OBJECT = re.compile(rb"(?<!\d)(\d{1,7})\s+\d{1,5}\s+obj\b")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PARENT = re.compile(rb"/Parent\s+\d+\s+\d+\s+R")
_STREAM = re.compile(rb"stream\r?\n")
_MAX_UNPACKED = 64 * 1024 * 1024


def repair(data: bytes) -> bytes | None:
    """Return a PDF with the pages that are still whole, or None when there are none.

    Encrypted files are left alone.
    """
    if b"/Encrypt" in data:
        return None
    objects: dict[int, bytes] = {}
    unpacked = 0
    for match in _OBJECT.finditer(data):
        end = data.find(b"endobj", match.end())
        if end < 0:
            break
        body = data[match.end() : end]
        head = body[:500]
        if b"/ObjStm" in head:
            packed = _unpack(body, _MAX_UNPACKED - unpacked)
            unpacked += sum(len(part) for part in packed.values())
            objects |= packed
        elif b"/XRef" not in head:
            objects[int(match.group(1))] = body
    pages = [
        number
        for number, body in sorted(objects.items())
        if _PAGE.search(_STREAM.split(body, maxsplit=1)[0])
    ]
    return _written(objects, pages) if pages else None


def _unpack(body: bytes, room: int) -> dict[int, bytes]:
    """Return the objects of an object stream (ISO 32000-1, 7.5.7); none if it does not unpack."""
    start = _STREAM.search(body)
    count = re.search(rb"/N\s+(\d+)", body)
    first = re.search(rb"/First\s+(\d+)", body)
    if start is None or count is None or first is None or room <= 0:
        return {}
    try:
        plain = zlib.decompressobj().decompress(body[start.end() :], room)
    except zlib.error:
        return {}
    offset = int(first.group(1))
    numbers = [int(part) for part in plain[:offset].split() if part.isdigit()]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))[: int(count.group(1))]
    ends = [at for _, at in pairs[1:]] + [len(plain) - offset]
    return {
        number: plain[offset + at : offset + end]
        for (number, at), end in zip(pairs, ends, strict=True)
    }


def _written(objects: dict[int, bytes], pages: list[int]) -> bytes:
    """Return a file of the objects with a page tree over `pages`; readers rebuild its index."""
    tree = max(objects) + 1
    parent = b"/Parent %d 0 R" % tree
    parts = [b"%PDF-1.7\n"]
    for number, body in objects.items():
        if number in pages:
            body = _PARENT.sub(parent, body, count=1)
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, body.strip()))
    kids = b" ".join(b"%d 0 R" % number for number in pages)
    parts.append(
        b"%d 0 obj\n<</Type/Pages/MediaBox[0 0 612 792]/Count %d/Kids[%s]>>\nendobj\n"
        % (tree, len(pages), kids)
    )
    parts.append(b"%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n" % (tree + 1, tree))
    parts.append(b"trailer\n<</Root %d 0 R/Size %d>>\n%%%%EOF\n" % (tree + 1, tree + 2))
    return b"".join(parts)
