"""Typeset the sample papers: `python data/samples/typeset.py [--check]`.

Builds every PDF from src/*.typ and figures.json. The same sources, typst version and fonts give
the same bytes. Latin text is set in the fonts inside the `typst` wheel; the Chinese papers need
Noto Serif CJK and Noto Sans CJK (Debian: fonts-noto-cjk), which are embedded as subsets.
"""

import argparse
import hashlib
import json
import sys
from functools import cache
from pathlib import Path

import typst

HERE = Path(__file__).resolve().parent
CJK_FAMILIES = ("Noto Serif CJK SC", "Noto Sans CJK SC")
CJK_FONT_FILE = "NotoSerifCJK-Regular.ttc"


@cache
def cjk_font_folder() -> Path | None:
    """Return the folder with the Noto CJK fonts among the system's fonts, or None."""
    found = {font.family: font.path for font in typst.Fonts().fonts() if font.path}
    if any(family not in found for family in CJK_FAMILIES):
        return None
    return Path(found[CJK_FAMILIES[0]]).parent


def cjk_font_sha256() -> str | None:
    """Return the hash of the Chinese text font: another version of it gives other bytes."""
    folder = cjk_font_folder()
    if folder is None:
        return None
    return hashlib.sha256((folder / CJK_FONT_FILE).read_bytes()).hexdigest()


def samples() -> list[dict]:
    """Return the papers as samples.json lists them."""
    papers: list[dict] = json.loads((HERE / "samples.json").read_text(encoding="utf-8"))["papers"]
    return papers


def typeset(sample: dict) -> bytes:
    """Return the PDF of one paper.

    Raises:
        FileNotFoundError: The paper is Chinese and the Noto CJK fonts are not installed.
    """
    fonts: list[Path] = []
    if sample["language"] == "zh":
        folder = cjk_font_folder()
        if folder is None:
            raise FileNotFoundError("no Noto CJK fonts (Debian: apt install fonts-noto-cjk)")
        fonts = [folder]
    compiler = typst.Compiler(
        HERE / "src" / Path(sample["file"]).with_suffix(".typ"),
        root=HERE,
        font_paths=typst.Fonts(include_system_fonts=False, font_paths=fonts),
    )
    pdf = compiler.compile(format="pdf", timestamp=0)
    if not isinstance(pdf, bytes):
        raise TypeError(f"{sample['file']}: typst gave no single PDF")
    return pdf


def main() -> None:
    """Write the PDFs, or with --check only say which of them are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    check = parser.parse_args().check
    stale = 0
    for sample in samples():
        path = HERE / sample["file"]
        pdf = typeset(sample)
        same = path.is_file() and path.read_bytes() == pdf
        stale += not same
        if not check:
            path.write_bytes(pdf)
        state = "unchanged" if same else ("out of date" if check else "written")
        print(f"{sample['file']}: {len(pdf) / 1000:.0f} kB, {state}")
    if check and stale:
        sys.exit(1)


if __name__ == "__main__":
    main()
