"""The book's pages before they are a site: their order, their links, the pictures, what is made of the program."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from lab.base.house import FLOORS
from lab.base.paths import TOP, LabError
from lab.book import diagrams, order
from lab.book.site import build_site
from lab.book.stage import rewritten, staged
from lab.cli.pages import reference


@pytest.fixture
def small(tmp_path):
    """A checkout with a book of two pages: small("docs/more.md", text) adds one."""

    def add(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    add(
        "docs/README.md",
        "# Book\n\n## 1. Part\n\n| page | what |\n| --- | --- |\n| [a](a.md) | first |\n| [b](b.md) | second |\n\n## 2. Results\n\n[c](c.md)\n",
    )
    for name in "abc":
        add(f"docs/{name}.md", f"# Page {name}\n\n## A heading\n")
    add("core/x.c", "int x;\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    add.top = tmp_path
    return add


def test_every_page_has_its_place():
    parts = order.parts()
    named = [page for part in parts for page in part.pages]
    assert len(named) == len(set(named)) > 40
    assert all((TOP / page).is_file() for page in named)
    assert (
        named.index("docs/start/first-steps.md")
        < named.index("docs/caches/four-caches.md")
        < named.index("docs/papers/tsai-2015.md")
    )


def test_a_page_without_a_place_is_named(small):
    assert [part.pages for part in order.parts(small.top)] == [("docs/a.md", "docs/b.md"), ("docs/c.md",)]
    small("docs/lost.md", "# Lost\n")
    with pytest.raises(LabError, match="docs/lost.md"):
        order.parts(small.top)


def test_labs_come_by_lying_there(small):
    small("docs/labs/README.md", "# The labs\n")
    small("docs/labs/1-hash.md", "# A first hash function\n")
    titles = [(part.title, part.pages) for part in order.parts(small.top)]
    assert titles[1] == ("The labs", ("docs/labs/README.md", "docs/labs/1-hash.md")) and titles[2][0] == "Results"


def test_links_are_rewritten(small):
    pages = {"docs/README.md", "docs/a.md", "docs/k/p.md", "README.md"}
    small("README.md", "# Front\n")

    def link(page: str, target: str) -> str:
        return rewritten(page, f"[x]({target})", pages, small.top)

    assert staged("docs/README.md") == "index.md" and staged("README.md") == "project/README.md"
    assert link("docs/k/p.md", "../a.md#h") == "[x](../a.md#h)"
    assert link("docs/k/p.md", "../README.md") == "[x](../index.md)"
    assert link("docs/a.md", "../README.md#two") == "[x](project/README.md#two)"
    assert link("docs/a.md", "../core/x.c") == "[x](source:core/x.c)"
    assert link("README.md", "docs/a.md") == "[x](../a.md)"
    assert link("docs/a.md", "https://x.y/z") == "[x](https://x.y/z)"
    assert rewritten("docs/a.md", "```c\na[b](c)\n```", pages, small.top) == "```c\na[b](c)\n```"
    with pytest.raises(LabError, match="nowhere: gone.md"):
        link("docs/a.md", "gone.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x](b.md#no-such)", "no-such"),
        ("# A\n\n### Too deep\n", "Non-consecutive header"),
        ("```{nonsense}\n```", "nonsense"),
    ],
)
def test_what_the_generator_warns_of_is_an_error(small, tmp_path, text, said):
    small("docs/a.md", f"# A\n\n{text}\n")
    with pytest.raises(LabError, match=said):
        build_site(tmp_path / "site", tmp_path / "work", small.top)


def test_a_small_book_is_built(small, tmp_path):
    small("docs/a.md", "# A\n\n[b](b.md#a-heading), [x](../core/x.c), [core](../core)\n")
    build_site(tmp_path / "site", tmp_path / "work", small.top)
    text = (tmp_path / "site/a.html").read_text()
    assert (
        'href="b.html#a-heading"' in text
        and 'href="source/core/x.c.html"' in text
        and 'href="source/core.html"' in text
    )
    assert "int x;" in (tmp_path / "site/source/core/x.c.html").read_text()
    assert 'href="../core.html"' in (tmp_path / "site/source/core/x.c.html").read_text()
    assert 'href="core/x.c.html"' in (tmp_path / "site/source/core.html").read_text()


def test_the_markdown_has_nothing_for_the_generator():
    """No directives, roles, substitutions or targets of MyST: a forge would show them as they are."""
    mine = re.compile(r"^```\{|^:::|\{[a-z]+\}`|^\([\w-]+\)=$", re.MULTILINE)

    def found(text: str) -> bool:
        return bool(mine.search(re.sub(r"(?<!\})`[^`\n]+`", "code", text)))

    assert (
        found("```{note}\n") and found("see {doc}`x`") and not found("```sh\n") and not found("`run {seed}` and `{x}`")
    )
    assert not [page for part in order.parts() for page in part.pages if found((TOP / page).read_text())]


@pytest.mark.parametrize("path", diagrams.texts(), ids=lambda path: path.stem)
def test_a_picture_is_what_its_text_gives(path):
    """By the digest that the picture has in it; where graphviz is, by what stands in its boxes as well.

    Places are not compared: another version of graphviz, or other fonts, put boxes elsewhere.
    """
    svg = path.with_suffix(".svg").read_text()
    assert diagrams.drawn_from(svg) == (path.stem, diagrams.digest(path.read_text())), "make diagrams"
    if shutil.which("dot"):
        words = re.compile(r"<text[^>]*>(.*?)</text>")
        assert sorted(words.findall(diagrams.draw(path))) == sorted(words.findall(svg)), "make diagrams"


def test_a_changed_text_is_noticed():
    text = diagrams.texts()[0].read_text()
    assert diagrams.digest(text) != diagrams.digest(text.replace("digraph", "digraph ", 1))


def test_a_text_that_graphviz_does_not_take(tmp_path):
    if not shutil.which("dot"):
        pytest.skip("no graphviz")
    path = tmp_path / "bad.dot"
    path.write_text("digraph { a -> ")
    with pytest.raises(LabError, match="bad.dot"):
        diagrams.draw(path)


def test_the_house_has_all_rooms():
    """Of the picture: what lab/base/house.py knows, and in its order."""
    text = (TOP / "docs/start/house.dot").read_text()
    rooms = [room.rstrip("/") for floor in FLOORS for room in floor]
    lacking = [room for room in rooms if room not in text and room.rpartition("/")[2] not in text]
    assert not lacking


def test_commands_are_told_as_they_are():
    assert reference.COMMANDS.read_text() == reference.commands_page(), "make docs"


def test_settings_are_told_as_they_are():
    """A function that one drops into hash/ is a setting at once, and need not be on the page before it is committed."""
    kept, now = reference.SETTINGS.read_text().splitlines(), reference.settings_page().splitlines()
    others = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "hash"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    dropped = {f"| `{name.rpartition('/')[2].removesuffix('.h')}` |" for name in others}
    assert [line for line in now if not line.startswith(tuple(dropped) or "\0")] == kept, "make docs"
