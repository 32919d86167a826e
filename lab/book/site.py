"""The site: Sphinx over the copies of the pages, with a search that needs no server. A warning is an error."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError
from lab.book.order import Part, parts
from lab.book.sources import write_sources
from lab.book.stage import stage

WEB = Path(__file__).with_name("web")
SOURCE_LINK = re.compile(r"\]\(source:([^)\s]+)\)")

LIGHT = {
    "color-foreground-muted": "#565b61",
    "color-foreground-border": "#6b7078",
    "color-link--visited": "#6d3fa0",
    "color-link": "#0a5a9c",
    "color-brand-primary": "#0a4a80",
    "color-brand-content": "#0a5a9c",
}
DARK = {
    "color-foreground-muted": "#a3aab3",
    "color-foreground-border": "#8b929b",
    "color-link--visited": "#c3a4f0",
    "color-link": "#7cbcf0",
    "color-brand-primary": "#9fd0f7",
    "color-brand-content": "#7cbcf0",
}


def settings() -> dict[str, Any]:
    """Sphinx's configuration, for conf.py."""
    return {
        "project": "Chainwalk",
        "html_title": "Chainwalk: the book",
        "extensions": ["myst_parser", "lab.book.extension"],
        "myst_heading_anchors": 6,
        "myst_url_schemes": {"http": None, "https": None, "mailto": None, "source": None},
        "html_theme": "furo",
        "html_theme_options": {"light_css_variables": LIGHT, "dark_css_variables": DARK, "footer_icons": []},
        "html_static_path": [str(WEB)],
        "html_css_files": ["book.css"],
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "html_copy_source": False,
        "html_show_search_summary": False,  # it would have to fetch the pages, which file:// does not allow
        "html_use_index": False,
        "highlight_language": "none",
        "pygments_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
        "toc_object_entries": False,
        "nitpicky": True,
    }


def build_site(site: Path, work: Path, top: Path = TOP) -> list[Part]:
    """Build the book of the checkout at @top into @site, copies and what Sphinx keeps into @work; its parts.

    LabError has all that Sphinx warned of: dead links and anchors, pages without a place, what cannot be read.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    book = parts(top)
    copies = work / "pages"
    stage(book, copies, top)
    shutil.rmtree(site, ignore_errors=True)
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        sphinx = Sphinx(
            str(copies), str(WEB.parent), str(site), str(work / "doctrees"), "html",
            status=None, warning=warnings, freshenv=True,
        )  # fmt: skip
        sphinx.build()
    if said := re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue()).replace(f"{copies}/", "").strip():
        raise LabError(f"the book is not as it should be:\n{said}")
    for left in ("objects.inv", ".buildinfo"):
        (site / left).unlink(missing_ok=True)
    shutil.rmtree(site / "_sources", ignore_errors=True)
    targets = {
        target for path in copies.rglob("*.md") for target in SOURCE_LINK.findall(path.read_text(encoding="utf-8"))
    }
    write_sources(targets, site, top)
    return book
