"""make docs: the pages of the reference that are made of the program itself, docs/reference/commands.md and settings.md."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.base.paths import TOP

COMMANDS, SETTINGS = TOP / "docs/reference/commands.md", TOP / "docs/reference/settings.md"

COMMANDS_HEAD = """# Commands

<!-- made by `make docs` from lab/cli/ -->

Every command of `./cw` with its options, as `./cw COMMAND --help` has them. What is made by make (`make run`, `test`, `book` and others):
`make help`."""
SETTINGS_HEAD = """# Settings

<!-- made by `make docs` from Kconfig and hash/ -->

What can be chosen when a kernel is built: by `./cw run --set NAME=VALUE`, `make run NAME=VALUE`, or in a menu by `make menuconfig`.
`./cw list NAME` prints one of them. Options at boot are [another matter](../kernel/kernel-options.md)."""


def _cell(text: str) -> str:
    """As a cell of a table: one line, with nothing in it that Markdown would take for its own."""
    plain = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"([|<>*_\[\]])", r"\\\1", plain)


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    shown = parameter.metavar or ""
    return f"{names} {_cell(shown)}".strip()


def commands_page() -> str:
    """docs/reference/commands.md as it has to be."""
    import typer.main

    from lab.cli.root import app

    group: Any = typer.main.get_command(app)
    lines = [COMMANDS_HEAD]
    for name, command in group.commands.items():
        if command.hidden:
            continue
        lines += ["", f"## ./cw {name}", ""]
        lines += [_paragraph(piece) for piece in re.split(r"\n\s*\n", command.help or "")]
        options = [
            one for one in command.params if one.param_type_name == "option" and not getattr(one, "hidden", False)
        ]
        if options:
            lines += ["", "| option | what |", "| --- | --- |"]
            lines += [f"| {_option(one)} | {_cell(one.help or '')} |" for one in options]
    return "\n".join(lines).rstrip() + "\n"


def _paragraph(text: str) -> str:
    return re.sub(r"([<>*_\[\]])", r"\\\1", re.sub(r"\s+", " ", text).strip()) + "\n"


def _choices() -> Iterator[tuple[str, str, dict[str, str]]]:
    """(name, what it is, value -> about) of each choice, then of the plain settings under the name ""."""
    from lab.build import configure

    about = configure.hash_choices()
    with tempfile.TemporaryDirectory() as folder:
        kconfig = configure.load_kconfig(Path(folder))
        texts = {one.name: one.nodes[0].prompt[0] for one in kconfig.unique_defined_syms if one.nodes[0].prompt}
        prompts = {name: one.nodes[0].prompt[0] for name, one in kconfig.named_choices.items()}
        for name, choice in kconfig.named_choices.items():
            values = {value: about.get(name, {}).get(value, "") for value in configure.choice_values(choice)}
            yield name, prompts[name], values
        plain = [name for name in configure.settable(kconfig) if name not in kconfig.named_choices]
        yield "", "", {name: texts.get(name, "") for name in plain}


def settings_page() -> str:
    """docs/reference/settings.md as it has to be."""
    lines = [SETTINGS_HEAD]
    for name, what, values in _choices():
        lines += ["", f"## {name}" if name else "## Others", ""]
        lines += [f"{what}.", ""] if what else []
        lines += ["| value | what |" if name else "| setting | what |", "| --- | --- |"]
        lines += [f"| `{value}` | {_cell(about)} |" for value, about in values.items()]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    COMMANDS.write_text(commands_page(), encoding="utf-8")
    SETTINGS.write_text(settings_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
