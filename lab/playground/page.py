"""The playground's page: one file of HTML with style, script, module and key streams inside."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from lab.base.choose import load_choose
from lab.base.files import write_whole
from lab.base.paths import LabError
from lab.playground import module
from lab.playground.recordings import Recording, recordings

WEB = Path(__file__).parent / "web"
# Each after those that it imports: in the page they are one script.
SCRIPTS = (
    "stream", "engine", "formula/formula", "formula/emit", "state", "drawing", "panel", "player", "formula/editor", "formula/field", "main",
)  # fmt: skip
LARGEST = 2_000_000  # bytes of the page
IMPORT = re.compile(r"^import (\{.*?\}) from \"[./]+(?:\w+/)?(\w+)\.js\";\n", re.MULTILINE | re.DOTALL)
EXPORT = re.compile(r"^export (?:async )?(const|function|class) (.*)$", re.MULTILINE)


def plugins() -> dict[str, Any]:
    """What hash/ has: functions and structures of each cache, name hashes, and the kernel's own choices."""
    choose = load_choose()
    caches = {
        cache: {"functions": module.functions(cache), "structures": module.structures(cache)} for cache in module.CACHES
    }
    defaults = {cache: choose.DEFAULTS[f"{cache.upper()}_HASH"] for cache in (*module.CACHES, "name")}
    return {"caches": caches, "names": module.functions("name"), "defaults": defaults}


def script() -> str:
    """All scripts as one: each in a scope of its own, whose exports those after it take."""
    whole = "\n".join(_scope(Path(name).name, (WEB / f"{name}.js").read_text(encoding="utf-8")) for name in SCRIPTS)
    if "</script" in whole:
        raise LabError("the playground's scripts would end the page's script early")
    return whole


def _scope(name: str, text: str) -> str:
    exported: list[str] = []
    for kind, rest in EXPORT.findall(text):
        exported += re.findall(r"(\w+) = ", rest) if kind == "const" else [re.split(r"\W", rest)[0]]
    body = IMPORT.sub(lambda found: f"const {found[1]} = {found[2]}_js;\n", text)
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    return f"const {name}_js = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _header(path: Path) -> dict[str, Any]:
    """That of a key stream (docs/lab/key-streams.md), of which tests see that it is whole: the page needs no numpy."""
    content = path.read_bytes()
    length = int.from_bytes(content[12:16], "little")
    header: dict[str, Any] = json.loads(content[20 : 20 + length])
    return header


def _described(one: Recording) -> dict[str, Any]:
    caches = _header(one.keys)["caches"]
    there = [cache for cache in module.CACHES if caches.get(cache, {}).get("operations")]
    objects = {cache: caches[cache]["objects"] for cache in there}
    return {"name": one.name, "about": one.about, "objects": objects}


def _data(name: str, content: bytes) -> str:
    return f'<script type="text/plain" id="{name}">{base64.b64encode(content).decode()}</script>'


def page() -> str:
    """The whole of it."""
    streams = recordings()
    held = {"plugins": plugins(), "streams": [_described(one) for one in streams]}
    described = json.dumps(held, separators=(",", ":")).replace("<", "\\u003c")
    data = [
        f'<script type="application/json" id="page">{described}</script>',
        _data("module", module.built().read_bytes()),
    ]
    data += [_data(f"keys-{one.name}", one.keys.read_bytes()) for one in streams]
    parts = {"css": (WEB / "page.css").read_text(encoding="utf-8"), "script": script(), "data": "\n".join(data)}
    text = re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], (WEB / "page.html").read_text(encoding="utf-8"))
    if len(text.encode()) > LARGEST:
        raise LabError(f"the playground has {len(text.encode()):,} bytes, more than {LARGEST:,}: take a shorter stream")
    return text


def write_page(path: Path) -> int:
    """Write the page; how many bytes it has."""
    text = page()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from None
    return len(text.encode())
