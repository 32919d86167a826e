"""The book's pictures from text: `make diagrams` draws docs/**/NAME.svg from NAME.dot beside it.

The pictures are committed, so that the Markdown shows them anywhere. Each has in its first line what it was drawn from,
a digest of the text and of the style, and a test compares that. graphviz places and measures; the colours are ours, of
a light and of a dark page, and the picture has a ground of its own, so that it can be read on any.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from lab.base.paths import TOP, LabError

STYLE = """
svg { --ink: #1b2026; --paper: #ffffff; --box: #eef2f6; --line: #56606b; --mark: #d5e7f8; --edge: #0a5a9c; }
@media (prefers-color-scheme: dark) {
svg { --ink: #e6eaee; --paper: #1a1f25; --box: #28303a; --line: #9aa6b2; --mark: #123d61; --edge: #7cbcf0; }
}
text { fill: var(--ink); font-family: "DejaVu Sans", Verdana, sans-serif; }
.graph > polygon { fill: var(--paper); stroke: none; }
.node polygon, .node polyline, .node path, .node ellipse { fill: var(--box); stroke: var(--line); }
.node.mark polygon, .node.mark path, .node.mark ellipse { fill: var(--mark); stroke: var(--edge); }
.node.bare polygon, .node.bare path { fill: none; stroke: none; }
.node.none polygon, .node.none path { fill: none; stroke: var(--line); stroke-dasharray: 3 3; }
.edge path { stroke: var(--line); }
.edge polygon { fill: var(--line); stroke: var(--line); }
.edge.mark path { stroke: var(--edge); stroke-width: 1.8; }
.edge.mark polygon { fill: var(--edge); stroke: var(--edge); }
.cluster polygon, .cluster path { fill: none; stroke: var(--line); stroke-dasharray: 4 3; }
"""
MADE_OF = re.compile(r"made from (\S+)\.dot by `make diagrams`: ([0-9a-f]{16})")


def texts(top: Path = TOP) -> list[Path]:
    return sorted((top / "docs").rglob("*.dot"))


def digest(text: str) -> str:
    """What a picture of this text says that it was drawn from."""
    return hashlib.sha256((STYLE + text).encode()).hexdigest()[:16]


def draw(path: Path) -> str:
    """The SVG of the graph at @path; LabError: graphviz is not there, or does not take the text."""
    text = path.read_text(encoding="utf-8")
    try:
        done = subprocess.run(["dot", "-Tsvg", str(path)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise LabError("graphviz (dot) draws the book's pictures: apt-get install graphviz") from None
    if done.returncode or done.stderr.strip():
        raise LabError(f"{path.name}: {done.stderr.strip()}")
    svg = re.sub(r"<\?xml.*?<svg", "<svg", done.stdout, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r' font-family="[^"]*"', "", svg)
    head, _, rest = svg.partition(">")
    head = re.sub(r'width="([\d.]+)pt"\s+height="([\d.]+)pt"', r'width="\1" height="\2"', head)
    made = f"<!-- made from {path.stem}.dot by `make diagrams`: {digest(text)} -->\n"
    return f"{made}{head}>\n<style>{STYLE}</style>{rest}"


def drawn_from(svg: str) -> tuple[str, str]:
    """The name and the digest that the picture itself gives."""
    match = MADE_OF.search(svg)
    return (match[1], match[2]) if match else ("", "")


def main() -> int:
    try:
        for path in texts():
            picture = path.with_suffix(".svg")
            picture.write_text(draw(path), encoding="utf-8")
            print(f"  DOT     {picture.relative_to(TOP)}")
    except LabError as error:
        print(f"diagrams: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
