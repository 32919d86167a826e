"""What Sphinx has to know of the book: links into the source are `source:PATH`, as stage.py writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCHEME = "source:"


def source_page(path: str) -> str:
    """Where in the site the page of a file or folder of the checkout lies."""
    return f"source/{path}.html"


def _resolve(app: Sphinx, tree: nodes.document, page: str) -> None:
    up = "../" * page.count("/")
    for link in tree.findall(nodes.reference):
        target = link.get("refuri", "")
        if target.startswith(SCHEME):
            link["refuri"] = up + source_page(target.removeprefix(SCHEME))
            link["classes"] = [*link.get("classes", ()), "source"]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
