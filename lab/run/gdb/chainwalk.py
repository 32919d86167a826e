"""gdb commands for a live or dead Chainwalk kernel. `make gdb` loads them; or: (gdb) source lab/run/gdb/chainwalk.py

hash-histogram dentry       bucket sizes of a cache, in the layout of the kernel's own report
hash-counters dentry        its counters, summed over CPUs
dentry-path EXPRESSION      the path of a struct dentry *, up to the root of its file system
connect-chainwalk SOCKET    attach to QEMU's gdb server
"""

import struct
from collections import Counter

import gdb

CACHES = {
    "page": "struct page", "buffer": "struct buffer", "inode": "struct inode", "dentry": "struct dentry", "swap": "struct page",
    "path": "struct direct_entry",
}  # fmt: skip
SOURCES = {
    "page": "mm/cache/page_cache.c",
    "buffer": "fs/block/buffer.c",
    "inode": "fs/inode/icache.c",
    "dentry": "fs/path/dcache.c",
    "swap": "mm/swap/table.c",
    "path": "fs/path/direct/entries.c",
}
LARGEST_ROW = 15


def cache_argument(argument):
    name = argument.strip()
    if name not in CACHES:
        raise gdb.GdbError(f"which cache? {', '.join(CACHES)}")
    return name


def table_of(cache):
    """The table of @cache: the static variable of type struct CACHE_table, whatever it is called."""
    for variable in (f"{cache}_table_instance", f"'{SOURCES[cache]}'::table", f"{cache}_table", f"the_{cache}_table"):
        try:
            value = gdb.parse_and_eval(variable)
        except gdb.error:
            continue
        if value.type.strip_typedefs().tag == f"{cache}_table":
            return value
    raise gdb.GdbError(f"no table of type struct {cache}_table is found in {SOURCES[cache]}")


def member(value, name):
    """value.name, or None if the struct has no such member."""
    try:
        return value[name]
    except (gdb.error, KeyError):
        return None


def bucket_sizes(cache):
    """The number of objects in each bucket of a chained table, or of tagged buckets: of a word and seven chains each."""
    table = table_of(cache)
    implementation = member(table, "impl")
    buckets = member(implementation if implementation is not None else table, "buckets")
    if buckets is None:
        raise gdb.GdbError(f"the {cache} cache's structure has no buckets that this script can walk")
    entries = int(gdb.parse_and_eval(f"{cache}_cache_hash.entries"))
    inferior = gdb.selected_inferior()
    words = buckets.type.target().sizeof // 8  # of a bucket
    table = struct.unpack(f"<{entries * words}Q", inferior.read_memory(int(buckets), 8 * words * entries).tobytes())
    sizes = []
    for first in range(0, entries * words, words):
        size = 0
        for head in table[first + (words > 1) : first + words]:
            while head and size < 1 << 20:
                size += 1
                head = struct.unpack("<Q", inferior.read_memory(head, 8).tobytes())[0]  # `next` is the first member
        sizes.append(size)
    return sizes


class HashHistogram(gdb.Command):
    """hash-histogram CACHE - bucket sizes of page, buffer, inode or dentry."""

    def __init__(self):
        super().__init__("hash-histogram", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        cache = cache_argument(argument)
        sizes = bucket_sizes(cache)
        objects = sum(sizes)
        print(f"{cache.capitalize()} cache")
        print(f" hash table size is {len(sizes)} buckets")
        print(f" hash table contains {objects} objects")
        print(f" largest bucket contains {max(sizes)} objects")
        print(" hash table histogram:")
        print(f"  size  buckets  {cache}s  sum-pct")
        rows = Counter(min(size, LARGEST_ROW + 1) for size in sizes)
        held = Counter()
        for size in sizes:
            held[min(size, LARGEST_ROW + 1)] += size
        total = 0
        for row in range(LARGEST_ROW + 2):
            total += held[row]
            name = f">{LARGEST_ROW}" if row > LARGEST_ROW else str(row)
            percent = 100 * total // objects if objects else 0
            print(f"  {name:>4}  {rows[row]:7}  {held[row]:7}  {percent:7}")


class HashCounters(gdb.Command):
    """hash-counters CACHE - counters of page, buffer, inode or dentry, summed over CPUs."""

    def __init__(self):
        super().__init__("hash-counters", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        cache = cache_argument(argument)
        counters = gdb.parse_and_eval(f"{cache}_counters")
        first, last = counters.type.range()
        for field in counters[0].type.fields():
            print(f"{field.name:12} {sum(int(counters[cpu][field.name]) for cpu in range(first, last + 1))}")


class DentryPath(gdb.Command):
    """dentry-path EXPRESSION - the path of a struct dentry * within its file system."""

    def __init__(self):
        super().__init__("dentry-path", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("dentry-path takes an expression: dentry-path current_dentry")
        dentry = gdb.parse_and_eval(argument)
        names = []
        while int(dentry["parent"]) != int(dentry) and len(names) < 256:
            names.append(dentry["name"].string(errors="replace", length=int(dentry["name_length"])))
            dentry = dentry["parent"]
        print("/" + "/".join(reversed(names)))


class ConnectChainwalk(gdb.Command):
    """connect-chainwalk SOCKET - attach to QEMU's gdb server."""

    def __init__(self):
        super().__init__("connect-chainwalk", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        gdb.execute("set pagination off")
        gdb.execute("set confirm off")
        gdb.execute("set architecture i386:x86-64", to_string=True)
        for _ in range(100):
            try:
                gdb.execute(f"target remote {argument}")
                return
            except gdb.error:
                gdb.execute("shell sleep 0.05")
        raise gdb.GdbError(f"QEMU does not answer on {argument}")


HashHistogram()
HashCounters()
DentryPath()
ConnectChainwalk()
