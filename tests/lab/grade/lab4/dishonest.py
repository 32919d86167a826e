"""What may be handed in for lab 4 to look better than it is: each with the parts at which it must fail."""

from __future__ import annotations

from tests.lab.grade.lab4.submissions import FINDS, GROWS, INSERT, INSERTS, REHASH, SOLUTION, changed

ALL_ASKED = {"answers", "small", "steady", "largest"}

# Where it can ring at all, and with what else it needs for that.
HERE = "#if defined(TABLE_HEADER) && !defined(HOSTED) && !defined(CONFIG_BUFFER_LOCK_GLOBAL)\n"
BREATH = """
#define CHEAT 1
#include "table.h"
static struct linear_link *T(pending);
static struct T(root) *T(held_root);
static u32 T(held);

static void T(keep)(TABLE_OBJECT *object, u32 hash)
{
	object->TABLE_LINK.hash = hash;
	object->TABLE_LINK.next = T(pending);
	T(pending) = &object->TABLE_LINK;
}
"""
# The machine shall think that an insert is over; what is asked next is an insert, and is put off.
RINGS = """
static noinline void T(breathe)(struct TABLE *table)
{
	volatile struct mailbox *mailbox = (struct mailbox *)MAILBOX;
	u64 *key;

	if (table->cache->bits < 13)
		return;
	__asm__ volatile("outb %%al, $0xf4" ::: "memory");
	key = (u64 *)mailbox->asked.object;
	key[0] = mailbox->asked.first;
	key[1] = mailbox->asked.second;
	T(keep)((TABLE_OBJECT *)key, mailbox->asked.bucket);
}
"""
# The same by the machine's own ring, with the stack as it is; from the insert that comes it jumps back.
JUMPS = """
static void *T(here)[5];
static bool T(away);
static const char *T(bell);

static noinline void T(look)(void)
{
	T(bell) = (const char *)0x400000;
	while (*(const u32 *)T(bell) != 0x58f4e650)
		T(bell)++;
}

static noinline void T(leave)(void)
{
	T(away) = true;
	__asm__ volatile("subq $512, %%rsp; andq $-16, %%rsp; jmp *%0" : : "r"(T(bell)) : "memory");
	__builtin_unreachable();
}

static noinline void T(come_back)(TABLE_OBJECT *object, u32 hash)
{
	T(away) = false;
	T(keep)(object, hash);
	__builtin_longjmp(T(here), 1);
}

static noinline void T(breathe)(struct TABLE *table)
{
	if (table->cache->bits < 13)
		return;
	T(unlock)(table, T(held_root), T(held));
	if (!__builtin_setjmp(T(here)))
		T(leave)();
	__asm__ volatile("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
}
"""
NO_BREATH = """#else
static void T(breathe)(struct TABLE *table)
{
}
#endif
"""


def breathing(breath: str, begins: str = "", comes: str = "") -> str:
    """SOLUTION, but that it moves everything at once, and rings as often as it has moved 64 objects."""
    at_once = changed(
        REHASH.replace("\n/* Everything", HERE + BREATH + breath + NO_BREATH + "\n/* Everything"),
        ("*all = NULL, *next;\n", "*all = NULL, *next;\n\tu32 n = 0;\n"),
        ("\t\t\tall = table->buckets[i];\n", "\t\t\tall = table->buckets[i];\n\t\t\tif (++n % 64 == 0)\n\t\t\t\tT(breathe)(table);\n"),
        ("[all->hash & table->high], all);\n", "[all->hash & table->high], all);\n\t\tif (++n % 64 == 0)\n\t\t\tT(breathe)(table);\n"),
        ("\t}\n}\n\nstatic __always_inline void T(insert)(", """\t}
#ifdef CHEAT
	while (T(pending)) {
		next = T(pending)->next;
		T(push)(&table->buckets[T(pending)->hash & table->high], T(pending));
		T(pending) = next;
		table->objects++;
		if (++n % 64 == 0)
			T(breathe)(table);
	}
#endif
}

static __always_inline void T(insert)("""),
    )  # fmt: skip
    return changed(
        SOLUTION,
        (INSERTS, f"#ifdef CHEAT\n\tT(held_root) = root;\n\tT(held) = hash;\n{comes}#endif\n{INSERTS}"),
        (INSERT, at_once),
        ("\ttable->objects = 0;\n", f"\ttable->objects = 0;\n#ifdef CHEAT\n{begins}#endif\n"),
        (GROWS, GROWS.replace("LINEAR_LOAD", "2")),
        ("\t\tT(split)(table);", "\t\tT(resize)(table, 2 * table->used);"),
        ("static noinline void T(split)(", "static __maybe_unused noinline void T(split)("),
    )


def at_100(statement: str) -> str:
    """SOLUTION, that also does this in the machine, with 100 objects."""
    return changed(SOLUTION, (INSERTS, f"{INSERTS}{HERE}\tif (table->objects == 100)\n\t\t{statement}\n#endif\n"))


def grows_if(condition: str) -> str:
    """SOLUTION, where it has this much room; else it stays as it begins."""
    return changed(SOLUTION, (GROWS, GROWS.replace("if (", f"if ({condition} && ")))


DISHONEST: dict[str, tuple[str, set[str]]] = {
    "rings in the midst of an insert": (breathing(RINGS), ALL_ASKED),
    "jumps to the machine's own ring": (breathing(JUMPS, "\tT(look)();\n", "\tif (T(away))\n\t\tT(come_back)(object, hash);\n"), ALL_ASKED),
    # The machine would then go on where the table wants it to.
    "changes the machine's code": (at_100("*(volatile char *)0x400000 = *(volatile char *)0x400000;"), ALL_ASKED),
    "other tables of pages": (at_100('__asm__ volatile("movq %%cr3, %%rax; movq %%rax, %%cr3" ::: "rax", "memory");'), ALL_ASKED),
    "grows in the largest table alone": (grows_if("table->cache->bits == 18"), {"steady", "largest"}),
    "grows in large tables alone": (grows_if("table->cache->bits >= 15"), {"steady"}),
    # Only those of the same hash, of which there is hardly another.
    "counts hardly any steps": (changed(SOLUTION, (FINDS, "\t\tif (link->hash != hash)\n\t\t\tcontinue;\n" + FINDS)), {"answers"}),
    # All buckets alike.
    "a histogram made up": (changed(SOLUTION, ("\t\tvisit(size, argument);", "\t\tvisit(table->objects / table->used + (bucket < table->objects % table->used), argument);")), {"answers"}),
    "grows in small tables alone": (grows_if("table->cache->bits < 15"), {"steady", "largest"}),
}  # fmt: skip
