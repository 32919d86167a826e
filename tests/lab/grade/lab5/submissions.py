"""What may be handed in for lab 5: right ones of three kinds, and wrong and dishonest ones, each with the parts at which it must fail."""

from __future__ import annotations

from lab.base.paths import TOP

SOLUTION = (TOP / "coursework/lab5/solution/lockless.h").read_text()
STARTER = (TOP / "coursework/lab5/starter/lockless.h").read_text()
CHAINED = (TOP / "hash/table/chained.h").read_text().replace("chained", "lockless")


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """@text with one thing put for another, again and again. What is not there is an error of the test."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


FIELDS = "\tstruct hash_cache *cache;\n"
BEGIN, END = "\tdo {\n", "\t} while (link != T(end_of)(bucket));\n"
LEFT = "\tlink->previous = NULL; /*"
NEXT = ", *next = link->next;\n\n"
FOUND = "\t\t\tif (compare(object, key) == 0)\n\t\t\t\treturn object;\n"
STEPS = "\t\t\t++*steps;\n"
FIRST = "\tstruct lockless_link *first = *head;\n"
PUBLISHED = "\tsmp_store_release(head, link);\n"

# No mark at the end, but a count of removals: if there was none while it was walked, a chain led nowhere else.
LOOKED = (
    (BEGIN, "\tu64 before;\n\n\tdo {\n\t\tbefore = smp_load_acquire(&table->removals);\n"),
    (FIELDS, FIELDS + "\tu64 removals;\n"),
)
COUNTED = changed(
    SOLUTION,
    *LOOKED,
    (END, "\t} while (before != smp_load_acquire(&table->removals));\n"),
    (LEFT, "\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_RELEASE);\n" + LEFT),
)

# A chain ends with the address of its own head, and what was removed is looked for twice.
HEADS = """
/*
 * lockless.h - chains that end in their own head.
 *
 * Caches: dentry
 * Locks: bucket rcu
 */
#include "hash/table/template.h"
#include TABLE_LOCK_HEADER

struct TABLE {
	struct T(locks) locks;
	struct lockless_link *heads;
	struct hash_cache *cache;
};

#include "hash/table/bucket_locks.h"

static __always_inline TABLE_OBJECT *T(find)(struct TABLE *table, struct T(root) * root, u32 bucket, const TABLE_KEY *key,
	int (*compare)(const TABLE_OBJECT *, const TABLE_KEY *), u64 *steps)
{
	struct lockless_link *head = &table->heads[bucket], *end = table->heads + table->cache->entries;
	struct lockless_link *at = head;

	for (;;) {
		at = READ_ONCE(at->next);
		if (at == head)
			return NULL;
		if (at >= table->heads && at < end) { /* another's */
			at = head;
			continue;
		}
		TABLE_OBJECT *object = container_of(at, TABLE_OBJECT, TABLE_LINK);

		*steps += 1;
		if (!compare(object, key))
			return object;
	}
}

static __always_inline void T(insert)(struct TABLE *table, struct T(root) * root, u32 bucket, TABLE_OBJECT *object)
{
	struct lockless_link *head = &table->heads[bucket], *link = &object->TABLE_LINK, *first = head->next;

	__atomic_store_n(&link->next, first, __ATOMIC_RELEASE);
	link->previous = &head->next;
	first->previous = &link->next;
	__atomic_store_n(&head->next, link, __ATOMIC_RELEASE);
}

static __always_inline void T(remove)(struct TABLE *table, struct T(root) * root, u32 bucket, TABLE_OBJECT *object)
{
	struct lockless_link *link = &object->TABLE_LINK;

	__atomic_store_n(link->previous, link->next, __ATOMIC_RELEASE);
	link->next->previous = link->previous;
}

static __maybe_unused void T(walk)(void *instance, void (*visit)(u64 size, void *argument), void *argument)
{
	struct TABLE *table = instance;

	for (u32 b = 0; b < table->cache->entries; b++) {
		u64 size = 0;

		T(lock_to_read)(table, NULL, b);
		for (struct lockless_link *at = table->heads[b].next; at != &table->heads[b]; at = at->next)
			size++;
		T(unlock_read)(table, NULL, b);
		visit(size, argument);
	}
}

static __maybe_unused void T(create)(struct TABLE *table, struct hash_cache *cache)
{
	cache->table = table;
	cache->walk = T(walk);
	table->cache = cache;
	table->heads = hash_cache_create(cache, sizeof(*table->heads));
	for (u64 b = 0; b < cache->entries; b++)
		table->heads[b].next = &table->heads[b];
	T(locks_create)(&table->locks);
}
"""


def gives_up(rounds: int) -> str:
    return changed(
        SOLUTION,
        (BEGIN, "\tunsigned rounds = 0;\n\n" + BEGIN),
        (END, f"\t}} while (link != T(end_of)(bucket) && ++rounds < {rounds});\n"),
    )


TENTH = gives_up(10)


def counted(word: str, adds: str = "\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_RELEASE);\n") -> str:
    return changed(
        COUNTED,
        ("u64 removals", f"{word} removals"),
        ("u64 before", f"{word} before"),
        ("\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_RELEASE);\n", adds),
    )


# A lock of its own, taken by an instruction that reads and writes; @prefix: and does so in one.
OWN_LOCK = """static __always_inline void T(root_init)(struct T(root) * root)
{
}

static __always_inline void T(lock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	u16 was = 0;

	__asm__ volatile("PREFIXcmpxchgw %w2, %1" : "+a"(was), "+m"(table->mine.state) : "r"(1) : "memory", "cc");
	if (was)
		spin_lock_wait(&table->mine, 0);
}

static __always_inline void T(unlock)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	__atomic_store_n(&table->mine.state, 0, __ATOMIC_RELEASE);
}

static __always_inline void T(lock_to_read)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(lock)(table, root, bucket);
}

static __always_inline void T(unlock_read)(struct TABLE *table, struct T(root) * root, u32 bucket)
{
	T(unlock)(table, root, bucket);
}
"""
# So that the few accesses that matter are rarely those at which somebody comes in between.
MUCH = "\t\t\tfor (int i = 0; i < 20; i++)\n\t\t\t\t(void)READ_ONCE(*head);\n"

LOCKED = changed(
    SOLUTION,
    (BEGIN, "\tTABLE_OBJECT *found = NULL;\n\n\tT(lock_bucket)(&table->locks, bucket);\n" + BEGIN),
    (FOUND, "\t\t\tif (compare(object, key) == 0) {\n\t\t\t\tfound = object;\n\t\t\t\tgoto out;\n\t\t\t}\n"),
    (END + "\treturn NULL;\n", END + "out:\n\tT(unlock_bucket)(&table->locks, bucket);\n\treturn found;\n"),
)
# Before a change the starter lets who looks come to his end: by the machine's own instruction, or by a lock that nobody has.
PAUSES = (
    ("\tstruct lockless_link *first = *head;\n", "\tstruct lockless_link *first = *head;\n\n\tT(pause)();\n"),
    ("\t*link->previous = link->next;\n", "\tT(pause)();\n\t*link->previous = link->next;\n"),
)
LOCKS = '#include "hash/table/bucket_locks.h"\n'
AT = "(unsigned long)__builtin_frame_address(0) - 0xff4000"  # in a task's stack
YIELDS = (
    "static __always_inline void T(pause)(void)\n{\n#ifdef LOCKLESS\n\tfor (int i = 0; i < 24 && "
    + AT
    + ' < 0xc000; i++)\n\t\t__asm__ volatile("outb %%al, $0xf5" ::: "memory");\n#endif\n}\n'
)
FREE_LOCK = (
    "static spinlock_t T(mine)[4];\nstatic __always_inline void T(pause)(void)\n{\n\tunsigned long at = "
    + AT
    + ";\n\n\tfor (int i = 0; i < 24 && at < 0xc000; i++) {\n\t\tWRITE_ONCE(T(mine)[at >> 14].state, 0);\n\t\tspin_lock_wait(&T(mine)[at >> 14], 0);\n\t}\n}\n"
)


def own_lock(prefix: str) -> str:
    return changed(SOLUTION, (LOCKS, OWN_LOCK.replace("PREFIX", prefix)), (FIELDS, FIELDS + "\tspinlock_t mine;\n"))


RIGHT = {
    "an odd end": SOLUTION,
    "removals are counted": COUNTED,
    "ends in its own head": HEADS,
    "a lock of its own": own_lock("lock; "),
}

CREATED = "\tcache->table = table;\n"
# Where it runs as a program. (In the machine that is no call of anybody's, and would end it.)
FORKS = 'static __always_inline void T(fork)(void)\n{\n#ifdef HOSTED\n\tfor (;;) {\n\t\tlong answer = 57;\n\n\t\t__asm__ volatile("syscall" : "+a"(answer) : : "rcx", "r11", "memory");\n\t}\n#endif\n}\n'
HERE = "#ifdef LOCKLESS\n", "#endif\n"
ON_STACK = (
    "\t\t\tif ("
    + AT
    + " < 0xc000)\n\t\t\t\t++*(volatile u64 *)((unsigned long)__builtin_frame_address(0) & ~0x3ffful);\n"
)
# The lowest page of each task's stack becomes one page.
ALIAS = '\tu64 *top, *directory, *small = (u64 *)0x1f00000;\n\n\t__asm__ volatile("mov %%cr3, %0" : "=r"(top));\n\tdirectory = (u64 *)(*(u64 *)(*top & ~0xffful) & ~0xffful);\n\tfor (unsigned i = 0; i < 512; i++)\n\t\tsmall[i] = (0xe00000 + i * 4096ul) | 3;\n\tfor (unsigned i = 0; i < 3; i++)\n\t\tsmall[0x1f4 + 4 * i] = 0x1f01000 | 3;\n\tdirectory[7] = 0x1f00000 | 3;\n\t__asm__ volatile("mov %0, %%cr3" :: "r"(top) : "memory");\n'
FINDS_PAGES = "\tu64 *at = (u64 *)0x400000;\n\n\twhile ((at[1] & ~0x60ul) != 0x200083 || (at[2] & ~0x60ul) != 0x400083)\n\t\tat++;\n\tat[20] = 0x200083;\n"
VECTOR = '\t\t\t__asm__ volatile("movq %%mm0, %%rax; incq %%rax; movq %%rax, %%mm0" ::: "rax");\n'
WIDE = '\tu64 was;\n\n\t__asm__ volatile("mov %%cr4, %0; or $0x600, %0; mov %0, %%cr4" : "=&r"(was));\n'
LOOKS = "\tfor (struct lockless_link *link = *T(chain)(table, bucket); link; link = link->next) {\n\t\tTABLE"

ALL = {"structure", "answers", "sanitized", "together", "quiet", "waits"}
RUN = {"together", "quiet", "waits"}

# Name: the text, and the kinds of parts that it must fail.
WRONG: dict[str, tuple[str, set[str]]] = {
    "the starter": (STARTER, {"together"}),
    "the kernel's own chains": (CHAINED, {"together"}),
    "takes the lock": (LOCKED, {"quiet", "waits"}),
    "takes the lock when it finds nothing": (
        changed(
            SOLUTION,
            (END + "\treturn NULL;\n", "\t} while (link != T(end_of)(bucket));\n\tT(lock_bucket)(&table->locks, bucket);\n\tT(unlock_bucket)(&table->locks, bucket);\n\treturn NULL;\n"),
        ),
        {"quiet", "waits"},
    ),
    "counts its lookups": (
        changed(SOLUTION, (STEPS, STEPS + "\t\t\t__atomic_fetch_add(&table->looks, 1, __ATOMIC_RELAXED);\n"), (FIELDS, FIELDS + "\tu64 looks;\n")),
        {"quiet"},
    ),
    "moves what it finds to the head": (
        changed(SOLUTION, (FOUND, "\t\t\tif (compare(object, key) == 0) {\n\t\t\t\tif (*head != link) {\n\t\t\t\t\tstruct lockless_link *next = link->next, *first = *head;\n\n\t\t\t\t\t*link->previous = next;\n\t\t\t\t\tif (!T(is_end)(next))\n\t\t\t\t\t\tnext->previous = link->previous;\n\t\t\t\t\tlink->next = first;\n\t\t\t\t\tlink->previous = head;\n\t\t\t\t\tfirst->previous = &link->next;\n\t\t\t\t\t*head = link;\n\t\t\t\t}\n\t\t\t\treturn object;\n\t\t\t}\n")),
        RUN,
    ),
    "waits for who changes": (
        # A count that is odd while somebody removes: who looks meanwhile goes round and round.
        changed(
            SOLUTION,
            *LOOKED,
            (END, "\t} while (before & 1 || before != smp_load_acquire(&table->removals));\n"),
            (NEXT, NEXT + "\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_ACQ_REL);\n"),
            (LEFT, "\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_RELEASE);\n" + LEFT),
        ),
        {"waits"},
    ),
    "counts before it removes": (
        changed(
            SOLUTION,
            *LOOKED,
            (END, "\t} while (before != smp_load_acquire(&table->removals));\n"),
            (NEXT, NEXT + "\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_RELEASE);\n"),
        ),
        {"together"},
    ),
    "new ones at the end": (changed(SOLUTION, (FIRST, "\twhile (!T(is_end)(*head))\n\t\thead = &(*head)->next;\n" + FIRST)), {"together"}),
    "published before it is whole": (
        changed(SOLUTION, (PUBLISHED, ""), (FIRST + "\n", FIRST + "\n" + PUBLISHED)),
        {"together", "waits"},  # for a moment, what came in from there leads in a circle
    ),
    "what is removed leads nowhere": (changed(SOLUTION, (LEFT, "\tWRITE_ONCE(link->next, T(end_of)(bucket));\n" + LEFT)), {"together"}),
    "remembers the last one found": (
        changed(
            SOLUTION,
            (FOUND, "\t\t\tif (compare(object, key) == 0) {\n\t\t\t\tWRITE_ONCE(table->last, object);\n\t\t\t\treturn object;\n\t\t\t}\n"),
            (BEGIN, "\tif (READ_ONCE(table->last) && compare(READ_ONCE(table->last), key) == 0)\n\t\treturn table->last;\n" + BEGIN),
            (FIELDS, FIELDS + "\tTABLE_OBJECT *last;\n"),
        ),
        {"answers", "sanitized", "together", "quiet"},
    ),
    "gives up after the second round": (
        changed(SOLUTION, (BEGIN, "\tunsigned rounds = 0;\n\n" + BEGIN), (END, "\t} while (link != T(end_of)(bucket) && ++rounds < 2);\n")),
        {"together"},
    ),
    "an end tells four buckets apart": (changed(SOLUTION, ("(uintptr_t)bucket * 2 + 1", "(uintptr_t)(bucket & 3) * 2 + 1")), {"together"}),
    "an end tells 4096 buckets apart": (changed(SOLUTION, ("(uintptr_t)bucket * 2 + 1", "(uintptr_t)(bucket & 4095) * 2 + 1")), {"together"}),
    "gives up after the tenth round": (TENTH, {"together"}),
    "gives up after the 140th round": (gives_up(140), {"together"}),
    "counts removals in a byte": (counted("u8"), {"together"}),
    "counts removals in two bytes": (counted("u16"), {"together"}),
    "counts changes in two bytes": (
        changed(
            counted("u16"),
            ("\tsmp_store_release(head, link);\n", "\t__atomic_fetch_add(&table->removals, 1, __ATOMIC_RELEASE);\n\tsmp_store_release(head, link);\n"),
        ),
        {"together"},
    ),
    "reads and writes its lock in two": (own_lock(""), RUN),
    "hides its tenth round among others": (changed(TENTH, (STEPS, STEPS + MUCH)), {"together"}),
    "hides it when somebody changes": (
        changed(
            TENTH,
            (STEPS, STEPS + "\t\t\tif (READ_ONCE(table->changes))\n\t" + MUCH),
            (FIELDS, FIELDS + "\tu64 changes;\n"),
            (NEXT, NEXT + "\tWRITE_ONCE(table->changes, 1);\n"),
            (LEFT, "\tWRITE_ONCE(table->changes, 0);\n" + LEFT),
        ),
        {"together"},
    ),
    "finds anything rather than begin again": (
        changed(
            SOLUTION,
            (BEGIN, "\tTABLE_OBJECT *last = NULL;\n\n" + BEGIN),
            (STEPS, STEPS + "\t\t\tlast = object;\n"),
            (END, "\t\tif (link != T(end_of)(bucket) && last)\n\t\t\treturn last;\n" + END),
        ),
        {"together"},
    ),
    "looks at what was removed": (
        changed(SOLUTION, (FIELDS, FIELDS + "\tstruct lockless_link *gone;\n"), (LEFT, "\ttable->gone = link;\n" + LEFT), (FIRST, FIRST + "\n\tif (table->gone)\n\t\t(void)READ_ONCE(table->gone->next);\n")),
        {"sanitized", "together"},
    ),
    "turns the steps off": (
        # What comes is done in one, as if nobody could come between; and then they are on again.
        changed(
            SOLUTION,
            (BEGIN, '\t__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");\n' + BEGIN),
            (FOUND, "\t\t\tif (compare(object, key) == 0)\n\t\t\t\tgoto out;\n"),
            (END + "\treturn NULL;\n", END + '\tlink = NULL;\nout:\n\t__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc");\n\treturn link ? container_of(link, TABLE_OBJECT, TABLE_LINK) : NULL;\n'),
        ),
        RUN,
    ),
    "stops the others": (
        # Who is chosen next stands in the machine's own memory.
        changed(CHAINED, ("\tlink->previous = NULL; /*", '\tif (*(volatile u32 *)0xff1008)\n\t\t*(volatile u32 *)0xff1000 = 0;\n\tlink->previous = NULL; /*')),
        RUN,
    ),
    "answers for the others": (
        # A context's stack is where it was left: who looks there finds what another is about.
        changed(CHAINED, ("\tlink->previous = NULL; /*", "\tif (*(volatile u32 *)0xff1008)\n\t\t*(volatile u64 *)0xff1048 = 0;\n\tlink->previous = NULL; /*")),
        RUN,
    ),
    "lets who looks go first": (changed(STARTER, *PAUSES, (LOCKS, LOCKS + YIELDS)), RUN),
    "waits for a free lock": (changed(STARTER, *PAUSES, (LOCKS, LOCKS + FREE_LOCK)), RUN),
    "lets who changes go first": (changed(STARTER, (LOOKS, "\tT(pause)();\n" + LOOKS), (LOCKS, LOCKS + YIELDS)), RUN),
    "counts its lookups in a vector": (changed(SOLUTION, (STEPS, STEPS + VECTOR)), RUN),
    "turns vectors on": (changed(SOLUTION, (CREATED, CREATED + WIDE.join(HERE))), RUN),
    "counts its lookups on one stack": (changed(SOLUTION, (STEPS, STEPS + ON_STACK.join(HERE)), (CREATED, CREATED + ALIAS.join(HERE))), RUN),
    "writes to the tables of pages": (changed(SOLUTION, (CREATED, CREATED + FINDS_PAGES.join(HERE))), RUN),
    "writes to code": (changed(SOLUTION, (CREATED, CREATED + "\t*(volatile u8 *)0x400000 = 0;\n".join(HERE))), RUN),
    "runs by itself where tasks are": (changed(SOLUTION, (LOCKS, LOCKS + "static __attribute__((constructor)) void T(first)(void)\n{\n\tbarrier();\n}\n".join(HERE))), RUN),
    "has megabytes where tasks are": (
        changed(SOLUTION, (LOCKS, LOCKS + "static char T(big)[200 << 20];\n".join(HERE)), (CREATED, CREATED + '\t__asm__ volatile("" :: "r"(&T(big)[0]));\n'.join(HERE))),
        RUN,
    ),
    "counts no steps": (changed(SOLUTION, (STEPS, "")), {"answers"}),
    "takes a file in": (SOLUTION + '__asm__(".incbin \\"/etc/passwd\\"");\n', ALL),
    "shifts too far": (changed(SOLUTION, (FIRST, FIRST + "\n\tif (1u << (32 + (bucket & 1)) == 3)\n\t\treturn;\n")), {"sanitized"}),
    "forks without end": (changed(SOLUTION, (LOCKS, LOCKS + FORKS), (FIRST, FIRST + "\n\tT(fork)();\n")), {"sanitized"}),
    "forgets what was put in long ago": (changed(SOLUTION, (FIELDS, FIELDS + "\tu64 inserts;\n"), (FIRST, FIRST + "\n\tif (++table->inserts == 200)\n\t\t*head = first = T(end_of)(bucket);\n")), {"answers", "sanitized", "together"}),
    "a lookup never ends": (changed(SOLUTION, (END, "\t} while (1);\n")), ALL - {"structure"}),
    "a table that panics": (changed(SOLUTION, (FIRST, FIRST + '\tpanic("no");\n')), ALL - {"structure"}),
    "is of another lab": ('#include "hash/table/template.h"\nstruct TABLE { int nothing; };\n', ALL),
    "does not compile": (changed(SOLUTION, (FIRST, FIRST + "\tthis is no C;\n")), ALL),
    "calls what the machine has": (changed(SOLUTION, (FIRST, '\textern void machine_wait(void);\n\n\tmachine_wait();\n' + FIRST)), ALL),
}  # fmt: skip
