#!/usr/bin/env python3
"""Write the headers that plug the chosen hash functions and table structures into the caches.

    hash/choose.py CONFIG hash_choice.h             the choices from .config lines: CONFIG_PAGE_HASH="mult"
    hash/choose.py --page-hash mult -o hash_choice.h   by option; what is not given is the default
    hash/choose.py --list [--json]                     what there is

Two files are written, each only when it changes: hash_choice.h (what objects embed, which structure) and
hash_functions.h beside it (the functions). A name that is not there, a header without its function and a
combination that cannot work are refused with the reason. Only Python's own library is used.
"""

import argparse
import json
import re
import sys
from pathlib import Path

HASH = Path(__file__).resolve().parent
TABLE_CACHES = ("page", "buffer", "inode", "dentry", "swap", "path")
FIXED_LOCKS = {"swap": "bucket"}
LOCK_CACHES = tuple(cache for cache in TABLE_CACHES if cache not in FIXED_LOCKS)
CACHES = (*TABLE_CACHES, "name")

# As configs/default_defconfig: fewest instructions with a good spread.
DEFAULTS = {
    "PAGE_HASH": "fibonacci",
    "BUFFER_HASH": "fibonacci",
    "INODE_HASH": "fibonacci",
    "DENTRY_HASH": "linux-6.1",
    "NAME_HASH": "linux-6.1",
    "SWAP_HASH": "fibonacci",
    "PATH_HASH": "untransformed",
    **{f"{cache.upper()}_TABLE": "chained" for cache in TABLE_CACHES},
    "SWAP_TABLE": "page",
    "PATH_TABLE": "none",
    **{f"{cache.upper()}_LOCK": "bucket" for cache in LOCK_CACHES},
    "DENTRY_LOCK": "rcu",
    "PATH_LOCK": "rcu",
}
# What a cache's table may be besides a structure: then no function of its own is asked.
SHARED = {"swap": {"page": "The page cache's table, and its function: as in Linux 2.2."}}
# The table of direct lookup is there where that is (DCACHE_FASTPATH), and else "none".
WITHOUT = {**{cache: tuple(names) for cache, names in SHARED.items()}, "path": ("none",)}


class ChoiceError(Exception):
    """What cannot be chosen; the message says what can."""


# A function of hash/any serves all tables: their keys as its two words, the one that runs on by ones first.
WORDS = {
    "page": ("uintptr_t inode, u64 byte_offset", "byte_offset >> 12, inode"),
    "buffer": ("u32 device, u64 block", "block, device"),
    "inode": ("uintptr_t superblock, u64 number", "number, superblock"),
    "dentry": ("uintptr_t parent, u32 name_hash", "name_hash, parent"),
    "swap": ("u32 type, u64 slot", "slot, type"),
    "path": ("u64 index, u64 space", "index, space"),
}


def functions(cache):
    """The hash functions of a cache: each header of its folder is one, and but for names each of hash/any."""
    folders = (cache, "any") if cache in TABLE_CACHES else (cache,)
    return sorted({path.stem for folder in folders for path in (HASH / folder).glob("*.h")})


def header(cache, name):
    """Where a function stands: in the cache's own folder, if it is there, or in hash/any."""
    own = HASH / cache / f"{name}.h"
    return own if own.exists() or cache not in TABLE_CACHES else HASH / "any" / f"{name}.h"


def code(path):
    """A header without its comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def any_function(name):
    return "any_" + name.replace("-", "_")


def structures():
    """The table structures: each header of hash/table that declares which caches it can serve."""
    return sorted(path.stem for path in (HASH / "table").glob("*.h") if served_caches(path) is not None)


def schemes():
    """The lock schemes: each header of hash/lock that declares which caches it can serve."""
    return sorted(path.stem for path in (HASH / "lock").glob("*.h") if served_caches(path) is not None)


def served_caches(path):
    """The line "Caches: page buffer ..." of a structure's or lock scheme's opening comment, or None."""
    return declared(path, "Caches")


def declared(path, what):
    """The words of a line "Caches: page buffer" of a header's opening comment, or None."""
    match = re.search(rf"^ \* {what}: ([\w -]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).split() if match else None


def locks_of(structure):
    """The lock schemes that a structure works with."""
    return declared(HASH / "table" / f"{structure}.h", "Locks") or []


def summary(path):
    """The first sentence of a header's comment, without the file's name."""
    text = path.read_text(encoding="utf-8")
    match = re.search(r"/\*\s*(?:\* )?(.*?)(?:\n \*\n|\*/)", text, re.DOTALL)
    line = " ".join(part.strip(" *") for part in match.group(1).splitlines()) if match else ""
    return re.sub(r"^\S+\.h\s+-\s+", "", line).strip()


def choices():
    """Every choice: name -> {value: one line about it}."""
    found = {f"{c.upper()}_HASH": {n: summary(header(c, n)) for n in functions(c)} for c in CACHES}
    for cache in TABLE_CACHES:
        tables = [n for n in structures() if cache in served_caches(HASH / "table" / f"{n}.h")]
        own = {n: summary(HASH / "table" / f"{n}.h") for n in tables}
        found[f"{cache.upper()}_TABLE"] = {**SHARED.get(cache, {}), **own}
    for cache in LOCK_CACHES:
        names = [n for n in schemes() if cache in served_caches(HASH / "lock" / f"{n}.h")]
        found[f"{cache.upper()}_LOCK"] = {n: summary(HASH / "lock" / f"{n}.h") for n in names}
    return found


def check_function(cache, name):
    """Refuse a name that is not there, or a header that does not define its function."""
    names = functions(cache)
    if name not in names:
        raise ChoiceError(f"no {cache} hash function '{name}'. There are:\n" + "\n".join(f"  {n}" for n in names))
    path = header(cache, name)
    function = f"{cache}_hash" if path.parent.name == cache else any_function(name)
    repeated = r"|\bHASH_(?:BYTES|WORDS)\(" if cache == "name" else ""
    if not re.search(rf"\bu32\s+{function}\s*\(|#define\s+{function}\b{repeated}", code(path)):
        raise ChoiceError(f"hash/{path.parent.name}/{name}.h does not define `u32 {function}(...)`: see hash/cache.h")


def check_serves(cache, kind, what, name, names):
    """Refuse a file of hash/@kind that is not there, or that does not serve this cache."""
    if name not in names:
        raise ChoiceError(f"no {what} '{name}'. There are:\n" + "\n".join(f"  {n}" for n in names))
    served = served_caches(HASH / kind / f"{name}.h")
    if cache not in served:
        raise ChoiceError(
            f"{cache.upper()}_{kind.upper()}={name} cannot work: {name} serves the caches {', '.join(served)} only"
            f" (hash/{kind}/{name}.h says why)"
        )


def check_structure(cache, name):
    """Refuse a structure that is not there, or one that this cache cannot use."""
    if name in WITHOUT.get(cache, ()):
        return
    check_serves(cache, "table", "table structure", name, [*SHARED.get(cache, ()), *structures()])


def check_lock(cache, name, structure):
    """Refuse a lock scheme that is not there, or that this cache, or its structure, cannot use."""
    check_serves(cache, "lock", "lock scheme", name, schemes())
    if name not in locks_of(structure):
        raise ChoiceError(
            f"{cache.upper()}_LOCK={name} cannot work with {cache.upper()}_TABLE={structure}, which has"
            f" {', '.join(locks_of(structure))} (hash/table/{structure}.h says why)"
        )


def with_defaults(chosen):
    """@chosen, and the default of all else; of a lock scheme, the first that the chosen structure works with."""
    filled = {**DEFAULTS, **chosen}
    for cache in LOCK_CACHES:
        lock, table = f"{cache.upper()}_LOCK", f"{cache.upper()}_TABLE"
        locks = locks_of(filled[table]) if filled[table] in structures() else ()
        if lock not in chosen and locks and filled[lock] not in locks:
            filled[lock] = locks[0]
    return filled


def check(chosen):
    for cache in CACHES:
        check_function(cache, chosen[f"{cache.upper()}_HASH"])
    for cache in TABLE_CACHES:
        check_structure(cache, chosen[f"{cache.upper()}_TABLE"])
    for cache in (cache for cache in LOCK_CACHES if cache in own_tables(chosen)):
        check_lock(cache, chosen[f"{cache.upper()}_LOCK"], chosen[f"{cache.upper()}_TABLE"])


def note(chosen):
    """What works, but hardly as meant; None: nothing to say."""
    dentry, name = chosen["DENTRY_HASH"], chosen["NAME_HASH"]
    if not (ignores("dentry", dentry, "parent") and ignores("name", name, "salt")):
        return None
    salted = " or ".join(n for n in functions("name") if not ignores("name", n, "salt"))
    return (
        f"DENTRY_HASH={dentry} leaves the parent to the name hash, and NAME_HASH={name} does not look at it: one name"
        f" in all directories is one chain. Choose another DENTRY_HASH with it, or NAME_HASH={salted}"
    )


def ignores(cache, function, parameter):
    """Has a function of the cache's own no use for @parameter: is it named nowhere but in its list of parameters?"""
    path = header(cache, function)
    text = code(path)
    listed = 0 if re.search(r"\bHASH_(BYTES|WORDS)\(", text) else 1
    return path.parent.name == cache and len(re.findall(rf"\b{parameter}\b", text)) <= listed


def own_tables(chosen):
    """The caches that have a table of their own."""
    return [cache for cache in TABLE_CACHES if chosen[f"{cache.upper()}_TABLE"] not in WITHOUT.get(cache, ())]


def lock_lines(cache, chosen):
    """The lock scheme of a cache: its header, and a symbol for the code that has readers of its own with it."""
    name = FIXED_LOCKS.get(cache) or chosen[f"{cache.upper()}_LOCK"]
    return [
        f'#define CONFIG_{cache.upper()}_LOCK "{name}"',
        f'#define {cache.upper()}_LOCK_HEADER "hash/lock/{name}.h"',
        f"#define CONFIG_{cache.upper()}_LOCK_{name.upper().replace('-', '_')}",
    ]


def choice_header(chosen):
    """hash_choice.h: nothing in it depends on a hash function."""
    lines = [
        "/* Written by hash/choose.py: what the objects of each cache embed. */",
        "#ifndef GENERATED_HASH_CHOICE_H",
    ]
    lines += ["#define GENERATED_HASH_CHOICE_H", ""]
    tables = {cache: chosen[f"{cache.upper()}_TABLE"] for cache in own_tables(chosen)}
    lines += [f'#include "hash/table/{name}_link.h"' for name in sorted(set(tables.values()))]
    for cache, name in tables.items():
        stem = name.replace("-", "_")
        table = f"{cache}_table"
        lines += [
            "",
            f'#define CONFIG_{cache.upper()}_TABLE "{name}"',
            f'#define {cache.upper()}_TABLE_HEADER "hash/table/{name}.h"',
            *lock_lines(cache, chosen),
            f"#define {table}_link {stem}_link",
            f"#define {table}_root {stem}_root",
        ]
    # A frame is in the table of one cache at a time.
    last = max(TABLE_CACHES.index(cache) for cache in tables)
    lines += ["", f"#define HASH_CACHES {last + 1}", "union page_links {", "\tstruct page_table_link page;"]
    lines += ["\tstruct swap_table_link swap;"] if "swap" in tables else []
    return "\n".join([*lines, "};", "", "#endif", ""])


def functions_header(chosen):
    """hash_functions.h: the functions themselves and their names."""
    lines = ["/* Written by hash/choose.py: the chosen hash functions. */", "#ifndef GENERATED_HASH_FUNCTIONS_H"]
    lines += ["#define GENERATED_HASH_FUNCTIONS_H", ""]
    hashed = (*own_tables(chosen), "name")
    others = any(chosen[f"{cache.upper()}_HASH"] != DEFAULTS[f"{cache.upper()}_HASH"] for cache in hashed)
    if others or "path" in hashed:
        lines += ['#include "hash/shared.h"']  # what only functions use that are not the default kernel's
    for cache in hashed:
        name = chosen[f"{cache.upper()}_HASH"]
        path = header(cache, name)
        lines += [f'#define CONFIG_{cache.upper()}_HASH "{name}"', f'#include "hash/{path.parent.name}/{name}.h"']
        if path.parent.name == "any":
            parameters, words = WORDS[cache]
            lines += [f"static inline u32 {cache}_hash({parameters}, unsigned bits)"]
            lines += ["{", f"\treturn {any_function(name)}({words}, bits);", "}"]
    return "\n".join([*lines, "", "#endif", ""])


def read_config(path):
    """The choices in a file of CONFIG_NAME="value" lines; other lines are somebody else's."""
    chosen = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r'CONFIG_(\w+)="?([^"]*)"?', line.strip())
        if match and match.group(1) in DEFAULTS:
            chosen[match.group(1)] = match.group(2)
    return chosen


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_headers(chosen, output):
    """Check @chosen (defaults filled in) and write both headers, @output being that of hash_choice.h."""
    chosen = with_defaults(chosen)
    check(chosen)
    if note(chosen):
        print(f"choose: note: {note(chosen)}", file=sys.stderr)
    write_if_changed(output, choice_header(chosen))
    write_if_changed(output.parent / "hash_functions.h", functions_header(chosen))


def print_list(as_json):
    if as_json:
        print(json.dumps(choices(), indent=1))
        return
    for name, values in choices().items():
        print(f"{name}:")
        for value, about in values.items():
            mark = "*" if DEFAULTS.get(name) == value else " "
            print(f"  {mark} {value:20} {about[:100]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", help="a file with CONFIG_NAME=... lines")
    parser.add_argument("header", nargs="?", type=Path, help="hash_choice.h to write")
    parser.add_argument("-o", "--output", type=Path, help="the same")
    parser.add_argument("--list", action="store_true", help="print what there is")
    parser.add_argument("--json", action="store_true", help="with --list: as JSON")
    for name in DEFAULTS:
        parser.add_argument("--" + name.lower().replace("_", "-"), dest=name, metavar="NAME")
    arguments = parser.parse_args()
    if arguments.list:
        print_list(arguments.json)
        return
    output = arguments.output or arguments.header
    if output is None:
        parser.error("which header is to be written? (-o FILE)")
    try:
        chosen = read_config(arguments.config) if arguments.config else {}
        chosen.update({n: getattr(arguments, n) for n in DEFAULTS if getattr(arguments, n)})
        write_headers(chosen, output)
    except (ChoiceError, OSError) as error:
        sys.exit(f"choose: {error}")


if __name__ == "__main__":
    main()
