"""What was measured changes, too: so that nobody is quick on just those paths for which nothing is ever at stake."""

from __future__ import annotations

from typing import Any, Protocol

from lab.course.draw import Draw


class Script(Protocol):
    """What is needed here of script.py's, which stands above."""

    draw: Draw
    workers: Any
    top: str

    def name(self) -> str: ...
    def change(self, *words: str) -> None: ...
    def ask(self, about: str, worker: int, path: str, kind: str = "s") -> None: ...
    def folder(self, above: str, *, name: str = "") -> str: ...
    def file(self, above: str, *, name: str = "") -> str: ...


ABOUT = "eight components, after they were changed themselves"


def _see(script: Script, paths: list[str]) -> None:
    for worker in script.draw.shuffled(range(len(script.workers))):
        for path in paths:
            script.ask(ABOUT, worker, path)


def change_themselves(script: Script, measured: list[str]) -> None:
    """Of @measured some are asked for by everybody around changes of what they go through; at the end all is as before."""
    draw = script.draw
    paths = draw.shuffled(measured)[:4]
    within = paths[0].rpartition("/")[0]
    above = "/".join(within.split("/")[: draw.between(3, 6)])
    to = f"{script.top}/{script.name()}"
    _see(script, paths)
    around = [
        (["chmod", above, "700"], ["chmod", above, "755"]),
        (["rename", above, to], ["rename", to, above]),
        (["mount", above], ["umount", above]),
    ]
    for change, back in draw.shuffled(around):
        script.change(*change)
        _see(script, paths)
        script.change(*back)
        _see(script, paths)
    script.change("unlink", paths[0])
    _see(script, paths[:1])
    script.file(within, name=paths[0].rpartition("/")[2])
    _see(script, paths[:1])
    _from_elsewhere(script, paths[1])


def _from_elsewhere(script: Script, path: str) -> None:
    """The same names, below another directory, lead to another file."""
    elsewhere = above = script.folder(script.top)
    *folders, name = path.strip("/").split("/")
    for folder in folders:
        above = script.folder(above, name=folder)
    script.file(above, name=name)
    for place in (elsewhere, script.top):
        for worker in range(len(script.workers)):
            script.ask(ABOUT, worker, place, "c")
        _see(script, [path.strip("/"), path])
