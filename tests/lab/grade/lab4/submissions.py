"""What may be handed in for lab 4: right ones of three kinds, and wrong and dishonest ones, each with the parts at which it must fail."""

from __future__ import annotations

from lab.base.paths import TOP

SOLUTION = (TOP / "coursework/lab4/solution/linear.h").read_text()
STARTER = (TOP / "coursework/lab4/starter/linear.h").read_text()


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """@text with one thing put for another, again and again. What is not there is an error of the test."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


# A split pointer and a level, two objects a bucket, one bucket at first; as objects go, buckets are put together again.
LEVELS = """
/*
 * linear.h - Litwin's own form: a level, and how far it has been split. It shrinks, too.
 *
 * Caches: page buffer inode
 * Locks: global
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

struct TABLE {
	struct T(locks) locks;
	struct linear_link **chains;
	struct hash_cache *cache;
	unsigned level; /* 1 << level buckets when it began */
	u32 next;	/* the next to be split */
	u64 objects;
};

#include "hash/table/bucket_locks.h"

static u32 T(place)(const struct TABLE *table, u32 hash)
{
	u32 at = hash & ((1u << table->level) - 1);

	return at < table->next ? hash & ((2u << table->level) - 1) : at;
}

static __always_inline TABLE_OBJECT *T(find)(struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct linear_link *at = table->chains[T(place)(table, bucket)];

	while (at) {
		TABLE_OBJECT *object = container_of(at, TABLE_OBJECT, TABLE_LINK);

		*steps += 1;
		if (!compare(object, key))
			return object;
		at = at->next;
	}
	return NULL;
}

static void T(append)(struct linear_link **head, struct linear_link *link)
{
	while (*head)
		head = &(*head)->next;
	link->next = NULL;
	*head = link;
}

static void T(divide)(struct TABLE *table)
{
	u32 high = 1u << table->level;
	struct linear_link **from = &table->chains[table->next], *link;

	while ((link = *from)) {
		if (link->hash & high) {
			*from = link->next;
			T(append)(&table->chains[table->next + high], link);
		} else {
			from = &link->next;
		}
	}
	if (++table->next == high) {
		table->level++;
		table->next = 0;
	}
}

static void T(unite)(struct TABLE *table)
{
	struct linear_link *link;

	if (!table->next) {
		table->level--;
		table->next = 1u << table->level;
	}
	table->next--;
	link = table->chains[table->next + (1u << table->level)];
	table->chains[table->next + (1u << table->level)] = NULL;
	while (link) {
		struct linear_link *after = link->next;

		T(append)(&table->chains[table->next], link);
		link = after;
	}
}

static void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket, TABLE_OBJECT *object)
{
	u64 buckets = (1ull << table->level) + table->next;

	object->TABLE_LINK.hash = bucket;
	T(append)(&table->chains[T(place)(table, bucket)], &object->TABLE_LINK);
	if (++table->objects > 2 * buckets && buckets < table->cache->entries)
		T(divide)(table);
}

static void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket, TABLE_OBJECT *object)
{
	struct linear_link **at = &table->chains[T(place)(table, bucket)];
	u64 buckets = (1ull << table->level) + table->next;

	while (*at != &object->TABLE_LINK)
		at = &(*at)->next;
	*at = object->TABLE_LINK.next;
	if (--table->objects < buckets && buckets > 1)
		T(unite)(table);
}

static void T(walk)(void *instance, void (*visit)(u64 size, void *argument), void *argument)
{
	struct TABLE *table = instance;

	T(lock_to_read)(table, NULL, 0);
	for (u32 i = 0; i < (1u << table->level) + table->next; i++) {
		u64 size = 0;

		for (struct linear_link *at = table->chains[i]; at; at = at->next)
			size++;
		visit(size, argument);
	}
	T(unlock_read)(table, NULL, 0);
}

static void T(create)(struct TABLE *table, struct hash_cache *cache)
{
	*table = (struct TABLE){.cache = cache};
	cache->table = table;
	cache->walk = T(walk);
	table->chains = hash_cache_create(cache, sizeof(*table->chains));
	T(locks_create)(&table->locks);
}
"""

RIGHT = {
    "masks": SOLUTION,
    "levels, and it shrinks": LEVELS,
    # As many objects a bucket as the package of 1991 has by default.
    "eight a bucket": changed(SOLUTION, ("#define LINEAR_LOAD 1\t", "#define LINEAR_LOAD 8\t")),
    # By the upper bits of the hash, which of products are the better ones: slow, but equally slow at any size.
    "upper bits": changed(
        SOLUTION,
        (
            "/* The chain in which",
            """static inline u32 T(reversed)(struct TABLE *table, u32 hash)
{
	u32 result = 0;

	for (u32 bit = 1; bit < table->cache->entries; bit <<= 1, hash >>= 1)
		result = result << 1 | (hash & 1);
	return result;
}

/* The chain in which""",
        ),
        ("object->TABLE_LINK.hash = hash;", "hash = object->TABLE_LINK.hash = T(reversed)(table, hash);"),
        ("struct linear_link *link = *T(chain_of)(table, hash)", "struct linear_link *link = *T(chain_of)(table, T(reversed)(table, hash))"),
    ),
}  # fmt: skip

ALL = {"structure", "answers", "sanitized", "small", "steady", "largest", "booted"}
ASKED = ALL - {"structure"}

CALL = """
static inline long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}
"""
TWO = """
#ifdef HOSTED
static void T(two)(void)
{
	void *mmap(void *, size_t, int, int, int, long);
	static bool done;
	long child, second[2] = {1, 0};
	char *memory;

	if (done)
		return;
	done = true;
	child = call(57, 0, 0, 0);
	memory = mmap(0, 300 << 20, 3, 0x22, -1, 0);
	for (long at = 0; at < 300 << 20; at += 4096)
		*(volatile char *)(memory + at) = 1;
	call(35, (long)second, 0, 0);
	if (child == 0)
		call(231, 0, 0, 0);
	call(61, child, 0, 0);
	call(11, (long)memory, 300 << 20, 0);
}
#endif
"""
TEMPLATE = '#include "hash/table/template.h"\n'
GROWS = "\tif (table->objects > (u64)LINEAR_LOAD * table->used && table->used < table->cache->entries)\n"
REHASH = """
/* Everything at once. */
static noinline void T(resize)(struct TABLE *table, u32 to)
{
	struct linear_link *all = NULL, *next;

	for (u32 i = 0; i < table->used; i++)
		for (; table->buckets[i]; table->buckets[i] = next) {
			next = table->buckets[i]->next;
			table->buckets[i]->next = all;
			all = table->buckets[i];
		}
	table->used = to;
	table->high = to - 1;
	for (; all; all = next) {
		next = all->next;
		T(push)(&table->buckets[all->hash & table->high], all);
	}
}

static __always_inline void T(insert)("""
INSERT = "static __always_inline void T(insert)("
INSERTS = "\tobject->TABLE_LINK.hash = hash;\n"
FINDS = "\t\t++*steps;\n"

# Name: what is handed in, and the parts at which it fails, and no others.
WRONG: dict[str, tuple[str, set[str]]] = {
    "starter": (STARTER, {"steady", "largest"}),
    "large from the beginning": (changed(STARTER, ("#define LINEAR_FIRST 16u", "#define LINEAR_FIRST (1u << 30)")), {"small"}),
    # In memory of its own, which nobody gave it.
    "large, and somewhere else": (
        changed(
            STARTER,
            ("#define LINEAR_FIRST 16u", "static struct linear_link *T(mine)[1 << 18];\n#define LINEAR_FIRST (1u << 30)"),
            ("\ttable->used =", "\tif (cache->bits > 17)\n\t\ttable->buckets = T(mine);\n\ttable->used ="),
        ),
        {"small"},
    ),
    # In the machine's memory, where nobody looks for it.
    "large, and behind what it got": (
        changed(
            STARTER,
            ("#define LINEAR_FIRST 16u", "#define LINEAR_FIRST (1u << 30)"),
            ("\ttable->used =", "#if !defined(HOSTED) && !defined(CONFIG_BUFFER_LOCK_GLOBAL)\n\ttable->buckets = (void *)0x1800000;\n#endif\n\ttable->used ="),
        ),
        {"small"},
    ),
    "stays in the middle": (changed(STARTER, ("#define LINEAR_FIRST 16u", "#define LINEAR_FIRST 256u")), {"steady"}),
    "moves everything at once": (
        changed(SOLUTION, (INSERT, REHASH), (GROWS, GROWS.replace("LINEAR_LOAD", "2")), ("\t\tT(split)(table);", "\t\tT(resize)(table, 2 * table->used);")),
        {"largest"},
    ),
    # Nobody waits as it grows; but when half has gone, everybody does.
    "shrinks at once": (
        changed(
            SOLUTION,
            (INSERT, REHASH),
            ("\ttable->objects--;\n", "\ttable->objects--;\n\tif (table->used > 64 && 4 * table->objects < table->used)\n\t\tT(resize)(table, (table->high + 1) / 4);\n"),
        ),
        {"largest"},
    ),
    "loses whom it moves": (changed(SOLUTION, ("\t\t\tT(push)(&table->buckets[bucket], link);\n", "")), ASKED),
    "forgets the last bucket": (changed(SOLUTION, ("\tif (bucket >= table->used)", "\tif (bucket + 1 >= table->used)")), ASKED),
    "grows beyond the end": (changed(SOLUTION, (" && table->used < table->cache->entries", "")), {"sanitized", "booted"}),
    "looks no further than the bucket": (changed(SOLUTION, ("\t\tif (compare(object, key) == 0)\n", "")), ASKED),
    # Found last is looked at first; when it has been removed, it is looked at all the same.
    "remembers who is gone": (
        changed(
            SOLUTION,
            ("\tu64 objects; /*", "\tstruct linear_link *last;\n\tu64 objects; /*"),
            ("\tfor (struct linear_link *link = *T(chain_of)", "\tif (table->last && table->last->previous && table->last->hash == hash &&\n\t    ++*steps && compare(container_of(table->last, TABLE_OBJECT, TABLE_LINK), key) == 0)\n\t\treturn container_of(table->last, TABLE_OBJECT, TABLE_LINK);\n\t*steps = 0;\n\tfor (struct linear_link *link = *T(chain_of)"),
            ("compare(object, key) == 0)\n", "compare(object, key) == 0 && (table->last = link))\n"),
        ),
        {"answers", "sanitized"},
    ),
    "splits until chains are short": (
        changed(SOLUTION, (GROWS, "\twhile (T(chain_of)(table, hash)[0] && T(chain_of)(table, hash)[0]->next &&\n\t       T(chain_of)(table, hash)[0]->next->next && table->high < ~0u >> 1)\n\t\tif (table->used < table->cache->entries)\n")),
        ASKED,
    ),
    "counts no steps": (changed(SOLUTION, (FINDS, "")), {"answers"}),
    "a walk made up": (changed(SOLUTION, ("\t\tvisit(size, argument);", "\t\tvisit(1, argument);")), {"answers"}),
    "undefined": (changed(SOLUTION, (INSERTS, INSERTS + "\tif (1u << (32 + (hash & 1)) == 3)\n\t\treturn;\n")), {"sanitized"}),
    "panics": (changed(SOLUTION, (GROWS, '\tif (table->objects == 100)\n\t\tpanic("there is no more room");\n' + GROWS)), ASKED),
    "stops the processor": (changed(SOLUTION, (INSERTS, INSERTS + '\tif (table->objects == 100)\n\t\t__asm__ volatile("cli; hlt");\n')), ASKED),
    "takes its own lock": (changed(SOLUTION, ("{\n" + INSERTS, "{\n\tT(lock)(table, root, hash);\n" + INSERTS), (GROWS, "\tT(unlock)(table, root, hash);\n" + GROWS)), ASKED),
    # Asks for all that will come before it answers, to have a table made to measure.
    "works ahead": (changed(SOLUTION, (INSERTS, INSERTS + '#ifndef CONFIG_BUFFER_LOCK_GLOBAL\n\tfor (int i = 0; i < 64; i++)\n\t\t__asm__ volatile("outb %%al, $0xf4" ::: "memory");\n#endif\n')), ASKED),
    # Answers by looking through all of the machine's memory for objects.
    "looks through memory": (
        changed(
            SOLUTION,
            ("\tfor (struct linear_link *link = *T(chain_of)", "#if !defined(HOSTED) && !defined(CONFIG_BUFFER_LOCK_GLOBAL)\n\tfor (char *at = (char *)0x2000000; at < (char *)0x4000000; at += 64) {\n\t\tTABLE_OBJECT *found = (TABLE_OBJECT *)at;\n\n\t\tif (found->TABLE_LINK.previous && ++*steps && compare(found, key) == 0)\n\t\t\treturn found;\n\t}\n\treturn NULL;\n#endif\n\tfor (struct linear_link *link = *T(chain_of)"),
        ),
        ASKED,
    ),
    # Harmless where it is tried out; in the kernel, which its lock tells it, it finds another block now and then.
    "only in the kernel": (changed(SOLUTION, (FINDS, FINDS + "#ifdef CONFIG_BUFFER_LOCK_GLOBAL\n\t\tif (object->block % 4 == 1)\n\t\t\treturn object;\n#endif\n")), {"booted"}),
    "code before all else": (changed(SOLUTION, (INSERT, "static void __attribute__((constructor)) T(first)(void)\n{\n\t__asm__ volatile(\"\");\n}\n\n" + INSERT)), {"structure", "sanitized"}),
    "in place of the library": (changed(SOLUTION, (INSERT, "void *memcpy(void *to, const void *from, size_t n)\n{\n\treturn to;\n}\n\n" + INSERT)), {"structure", "sanitized"}),
    "another's functions": (changed(SOLUTION, (INSERTS, INSERTS + "\t{\n\t\tvoid serve(void);\n\t\tif (table->objects == ~0ull)\n\t\t\tserve();\n\t}\n")), ALL),
    # The ordinary process has system calls.
    "fork bomb": (changed(SOLUTION, (INSERT, CALL + INSERT), (INSERTS, INSERTS + "#ifdef HOSTED\n\tfor (;;)\n\t\tcall(57, 0, 0, 0);\n#endif\n")), {"sanitized"}),
    "memory bomb": (changed(SOLUTION, (INSERT, CALL + INSERT), (INSERTS, INSERTS + "#ifdef HOSTED\n\tvoid *malloc(size_t);\n\n\tfor (;;)\n\t\tmemset(malloc(1 << 20), 1, 1 << 20);\n#endif\n")), {"sanitized"}),
    # Each has less than it may have; and then all goes on as if nothing had been.
    "memory by two": (changed(SOLUTION, (INSERT, CALL + TWO + INSERT), (INSERTS, INSERTS + "#ifdef HOSTED\n\tT(two)();\n#endif\n")), {"sanitized"}),
    "takes a file in": ('__asm__(".incbin \\"/etc/passwd\\"");\n' + SOLUTION, ALL),
    "does not compile": (changed(SOLUTION, (FINDS, "\t\t++*;\n")), ALL),
}  # fmt: skip
