#!/usr/bin/env python3
"""Turn Kconfig, a configuration and settings from the command line into the build's headers.

Inputs:   Kconfig, the files of hash/ (each is a choice), OUTPUT/.config or a defconfig, --set NAME=VALUE.
Outputs:  OUTPUT/effective.config          everything that is chosen, as .config lines (for hash/choose.py)
          OUTPUT/include/generated/autoconf.h   what every file sees (without the names of functions)
          OUTPUT/include/generated/dentry_shrink.h   a choice that one file alone looks at
          OUTPUT/include/generated/rooms.mk   for make: the optional rooms that are not compiled

A file is only rewritten when it changes, so that make rebuilds what it must. Settings given with --set
hold for this build alone; --save and --menu write OUTPUT/.config.
"""

import argparse
import os
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP))

from lab.base.rooms import optional_rooms  # noqa: E402 - this is a script, which has to say where lab is

WRITTEN = "/* Written by lab/build/configure.py. */"
# What has to hold for some of hash/'s choices to be one.
NEEDS = {
    "SWAP_TABLE": "SWAP",
    "SWAP_HASH": "SWAP_TABLE_OWN",
    "PATH_TABLE": "DCACHE_FASTPATH",
    "PATH_HASH": "DCACHE_FASTPATH",
    "PATH_LOCK": "DCACHE_FASTPATH",
}
# Choices of which few files know; lab/build/make/config.mk names them, too.
OWN_HEADERS = {"DENTRY_SHRINK": "dentry_shrink.h"}


class ConfigureError(Exception):
    """A wrong name or value; the message says what is right."""


def plugins():
    """hash/choose.py, which knows what lies in hash/ and which of it can work together."""
    if str(TOP / "hash") not in sys.path:
        sys.path.append(str(TOP / "hash"))
    import choose

    return choose


def hash_functions(cache):
    """The hash functions of @cache: each header in hash/CACHE is one."""
    return plugins().functions(cache)


def hash_choices():
    """Every choice that hash/ offers: its name -> {value: one line about it}."""
    return plugins().choices()


def mangle(value):
    return re.sub(r"[^A-Z0-9]", "_", value.upper())


def choice_kconfig(choice, values):
    """Kconfig text for one generated choice."""
    cache, kind = choice.lower().split("_")
    what = {"hash": "hash function", "table": "table structure", "lock": "lock scheme"}[kind]
    lines = [f"choice {choice}", f'\tprompt "{cache.capitalize()} {"" if cache == "name" else "cache "}{what}"']
    if choice in NEEDS:
        lines.append(f"\tdepends on {NEEDS[choice]}")
    default = plugins().DEFAULTS.get(choice)
    if kind == "lock":
        others = {name: plugins().locks_of(name) for name in plugins().structures()}
        lines += [
            f"\tdefault {choice}_{mangle(locks[0])} if {cache.upper()}_TABLE_{mangle(structure)}"
            for structure, locks in others.items()
            if locks and default not in locks
        ]
    lines += [f"\tdefault {choice}_{mangle(default)}", ""] if default in values else [""]
    for value, about in values.items():
        lines += [f"config {choice}_{mangle(value)}", f'\tbool "{value}"']
        if choice == "SWAP_TABLE" and value not in plugins().SHARED["swap"]:
            lines.append("\tselect SWAP_TABLE_OWN")
        if about:
            lines += ["\thelp", f"\t  {about}"]
        lines.append("")
    lines += ["endchoice", ""]
    return "\n".join(lines)


def write_if_changed(path, text):
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except OSError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def load_kconfig(output):
    """Parse Kconfig with the choices of hash/ generated into @output."""
    import kconfiglib

    generated = output / "Kconfig.hash"
    text = "\n".join(choice_kconfig(name, values) for name, values in hash_choices().items() if values)
    write_if_changed(generated, text)
    os.environ["KCONFIG_CHOICES"] = str(generated.resolve())
    os.environ["srctree"] = str(TOP)  # noqa: SIM112 - the name that kconfiglib knows
    return kconfiglib.Kconfig(str(TOP / "Kconfig"), warn=False)


def choice_values(choice):
    """The members of a named choice by what the user calls them: their prompts."""
    return {symbol.nodes[0].prompt[0]: symbol for symbol in choice.syms}


def no_such(kind, name, names):
    names = sorted(names)
    if not names:
        return ConfigureError(f"no {kind} '{name}': there is none to choose from")
    return ConfigureError(f"no {kind} '{name}'. There are:\n" + "\n".join(f"  {n}" for n in names))


def why_not(choice, value):
    """Say why a structure or a lock scheme that is there cannot serve this cache."""
    cache, _, kind = choice.lower().partition("_")
    try:
        if kind == "table" and value in plugins().structures():
            plugins().check_structure(cache, value)
        if kind == "lock" and value in plugins().schemes():
            plugins().check_lock(cache, value, plugins().DEFAULTS[f"{cache.upper()}_TABLE"])
    except plugins().ChoiceError as error:
        raise ConfigureError(str(error)) from None


def settable(kconfig):
    """All names that --set knows: choices and plain symbols with a prompt."""
    members = {symbol for choice in kconfig.named_choices.values() for symbol in choice.syms}
    plain = [s.name for s in kconfig.unique_defined_syms if s not in members and s.nodes[0].prompt]
    return sorted([*kconfig.named_choices, *plain])


def assign(kconfig, name, value):
    """Set one name to @value, or say which names and values there are."""
    import kconfiglib

    name = name.removeprefix("CONFIG_")
    if name in kconfig.named_choices:
        values = choice_values(kconfig.named_choices[name])
        if value not in values:
            why_not(name, value)
            raise no_such(f"value of {name}", value, values)
        values[value].set_value(2)
        return
    symbol = kconfig.syms.get(name)
    if symbol is None or not symbol.nodes:
        raise no_such("setting", name, settable(kconfig))
    if symbol.choice is not None and value in ("y", "1"):
        symbol.set_value(2)
        return
    boolean = symbol.orig_type == kconfiglib.BOOL
    value = {"1": "y", "0": "n"}.get(value, value) if boolean else value
    if not symbol.set_value(value) or symbol.str_value != value:
        ranges = ", ".join(f"{low.str_value} to {high.str_value}" for low, high, _ in symbol.ranges)
        wanted = ranges or ("y or n" if boolean else "a number")
        raise ConfigureError(f"{name}={value} is refused: wanted {wanted}")


def check_asked(kconfig, name, value):
    """Refuse a setting of a choice that there is not, with the other settings as they are."""
    choice = kconfig.named_choices.get(name.removeprefix("CONFIG_"))
    if choice is not None and choice.visibility == 0:
        raise ConfigureError(f"{name}={value} has no effect: it needs {NEEDS.get(choice.name, 'other settings')}")


def load_config(kconfig, path):
    """Read a .config or defconfig. Choices may be given by value: CONFIG_PAGE_HASH="mult"."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.fullmatch(r"(?:CONFIG_)?(\w+)=(.*)", line.strip())
        if line.strip() == "" or line.lstrip().startswith("#"):
            unset = re.fullmatch(r"# CONFIG_(\w+) is not set", line.strip())
            symbol = kconfig.syms.get(unset.group(1)) if unset else None
            if symbol is not None and symbol.choice is None:
                symbol.set_value(0)
            continue
        if not match:
            raise ConfigureError(f"{path}:{number}: not a setting: {line}")
        name, value = match.groups()
        value = value.strip('"')
        try:
            assign(kconfig, name, value)
        except ConfigureError as error:
            # A file that was dropped and taken out again must not break an old .config.
            if path.name != ".config":
                raise ConfigureError(f"{path}:{number}: {error}") from None


def defconfig_path(name):
    path = TOP / "configs" / f"{name}_defconfig"
    if not path.exists():
        names = [p.name.removesuffix("_defconfig") for p in (TOP / "configs").glob("*_defconfig")]
        raise no_such("defconfig", name, names)
    return path


def chosen(kconfig):
    """What each named choice stands at: {"PAGE_HASH": "mult", ...}."""
    names = {}
    for name, choice in kconfig.named_choices.items():
        if choice.selection is not None:
            names[name] = choice.selection.nodes[0].prompt[0]
    return names


def config_text(kconfig):
    """All that is chosen, as .config lines; choices by value."""
    lines = ["# Written by lab/build/configure.py; ./cw list shows what there is."]
    members = {symbol for choice in kconfig.named_choices.values() for symbol in choice.syms}
    lines += [f'CONFIG_{name}="{value}"' for name, value in chosen(kconfig).items()]
    lines += [s.config_string.strip() for s in kconfig.unique_defined_syms if s not in members and s.config_string]
    return "\n".join(lines) + "\n"


def autoconf_text(kconfig):
    """autoconf.h: everything but the names of hash functions and structures, and what has a header of its own."""
    import kconfiglib

    generated = {*hash_choices(), *OWN_HEADERS}
    lines = [WRITTEN]
    for symbol in kconfig.unique_defined_syms:
        if symbol.name == "CMDLINE" or (symbol.choice is not None and symbol.choice.name in generated):
            continue
        if symbol.orig_type == kconfiglib.BOOL:
            if symbol.str_value == "y":
                lines.append(f"#define CONFIG_{symbol.name} 1")
        elif symbol.orig_type == kconfiglib.STRING:
            lines.append(f'#define CONFIG_{symbol.name} "{symbol.str_value}"')
        elif symbol.orig_type in (kconfiglib.INT, kconfiglib.HEX):
            lines.append(f"#define CONFIG_{symbol.name} {symbol.str_value}")
    for name, value in chosen(kconfig).items():
        if name not in generated:
            lines.append(
                f'#define CONFIG_{name} "{value}"' if name != "HASH_WORD" else f"#define CONFIG_{name} {value}"
            )
    return "\n".join(lines) + "\n"


def choice_text(kconfig, name):
    """The header of the choice @name: the member that is chosen."""
    chosen_one = kconfig.named_choices[name].selection
    return f"{WRITTEN}\n#define CONFIG_{chosen_one.name} 1\n"


def rooms_text(kconfig):
    """rooms.mk, what make itself has to know: which folders are left out, and how all is laid out."""
    absent = [folder for folder, name in optional_rooms().items() if kconfig.syms[name].str_value != "y"]
    layout = kconfig.syms["LAYOUT"].str_value
    return f"# Written by lab/build/configure.py.\nABSENT_ROOMS := {' '.join(absent)}\nLAYOUT := {layout}\n"


def assign_all(kconfig, settings):
    """Make all the settings, in any order: what is refused before another is made is tried again behind it."""
    left = list(settings)
    while left:
        refused = []
        for setting in left:
            name, equals, value = setting.partition("=")
            if not equals:
                raise ConfigureError(f"'{setting}' is not NAME=VALUE. Names:\n  " + "\n  ".join(settable(kconfig)))
            try:
                assign(kconfig, name, value)
            except ConfigureError as error:
                refused.append((setting, error))
        if len(refused) == len(left):
            raise refused[0][1]
        left = [setting for setting, _ in refused]


def configure(output, defconfig=None, settings=(), save=False):
    """Write the build's headers below @output. Returns the parsed Kconfig."""
    kconfig = load_kconfig(output)
    saved = output / ".config"
    if defconfig:
        load_config(kconfig, defconfig_path(defconfig))
    elif saved.exists():
        load_config(kconfig, saved)
    elif (TOP / "configs" / "default_defconfig").exists():
        load_config(kconfig, defconfig_path("default"))
    assign_all(kconfig, settings)
    for setting in settings:
        check_asked(kconfig, *setting.split("=", 1))
    if save:
        write_if_changed(saved, config_text(kconfig))
    write_if_changed(output / "effective.config", config_text(kconfig))
    write_if_changed(output / "include/generated/autoconf.h", autoconf_text(kconfig))
    write_if_changed(output / "include/generated/rooms.mk", rooms_text(kconfig))
    for name, header in OWN_HEADERS.items():
        write_if_changed(output / "include/generated" / header, choice_text(kconfig, name))
    return kconfig


def menu(output):
    """menuconfig on OUTPUT/.config."""
    import menuconfig

    kconfig = configure(output, save=True)
    standard = output / ".menu.config"
    kconfig.write_config(str(standard), save_old=False)
    os.environ["KCONFIG_CONFIG"] = str(standard)
    menuconfig.menuconfig(kconfig)
    edited = load_kconfig(output)
    edited.load_config(str(standard))
    write_if_changed(output / ".config", config_text(edited))
    standard.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="the build folder")
    parser.add_argument("--defconfig", metavar="NAME", help="take configs/NAME_defconfig, not OUTPUT/.config")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for this build alone")
    parser.add_argument("--save", action="store_true", help="write the result to OUTPUT/.config")
    parser.add_argument("--menu", action="store_true", help="edit OUTPUT/.config by menu")
    arguments = parser.parse_args()
    try:
        if arguments.menu:
            menu(arguments.output)
        else:
            configure(arguments.output, arguments.defconfig, arguments.set, arguments.save)
    except ConfigureError as error:
        sys.exit(f"configure: {error}")


if __name__ == "__main__":
    main()
