"""./cw list: what there is to choose from, read from hash/, Kconfig and configs/ as they are."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.build import configure
from lab.guest import workloads


def _about(text: str) -> str:
    return text if len(text) <= 76 else text[:73].rsplit(" ", 1)[0] + " ..."


def defconfigs() -> dict[str, str]:
    """Every defconfig with the first comment line of its file."""
    found = {}
    for path in sorted((TOP / "configs").glob("*_defconfig")):
        first = path.read_text(encoding="utf-8").splitlines()[:1]
        found[path.name.removesuffix("_defconfig")] = first[0].lstrip("# ") if first else ""
    return found


def print_choices(what: str = "") -> None:
    generated = configure.hash_choices()
    with tempfile.TemporaryDirectory() as folder:
        kconfig = configure.load_kconfig(Path(folder))
        names = configure.settable(kconfig)
        values = {name: list(configure.choice_values(c)) for name, c in kconfig.named_choices.items()}
        texts = {s.name: s.nodes[0].prompt[0] for s in kconfig.unique_defined_syms if s.nodes[0].prompt}
    what = what.upper().removeprefix("CONFIG_")
    if what and what not in (*names, "DEFCONFIG", "IMAGE"):
        raise LabError(
            f"no choice '{what}'. There are:\n" + "\n".join(f"  {n}" for n in ["DEFCONFIG", "IMAGE", *names])
        )
    for name, members in values.items():
        if what in ("", name):
            _print_choice(name, members, generated.get(name, {}))
    if what in ("", "DEFCONFIG"):
        print("DEFCONFIG                      ./cw run --defconfig NAME, make NAME_defconfig")
        for name, about in defconfigs().items():
            print(f"  {name:28} {about}")
        print()
    if what in ("", "IMAGE"):
        print("IMAGE                          ./cw run --image NAME")
        for image in workloads.IMAGES:
            print(f"  {image.name:28} {image.about}")
        print()
    plain = [name for name in names if name not in values and what in ("", name)]
    if plain:
        print("OTHER SETTINGS")
        for name in plain:
            print(f"  {name:28} {texts.get(name, '')}")


def _print_choice(name: str, members: list[str], about: dict[str, str]) -> None:
    print(f"{name}")
    for value in members:
        print(f"  {value:28} {_about(about.get(value, ''))}".rstrip())
    print()
