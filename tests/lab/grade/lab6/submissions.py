"""What may be handed in for lab 6: right ones of several kinds, and wrong and dishonest ones, each with the parts at which it must fail."""

from __future__ import annotations

from lab.base.paths import TOP
from tests.lab.grade.lab6.conftest import ASKED, CHECKED, IN_TURN, SMALL

SOLUTION = (TOP / "coursework/lab6/solution/pathcache.c").read_text()
STARTER = (TOP / "coursework/lab6/starter/pathcache.c").read_text()


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """@text with one thing put for another, again and again. What is not there is an error of the test."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


# Chains of objects that are allocated, the oldest of which goes when there are too many; a hash byte by byte.
CHAINS = """
#ifdef CONFIG_DCACHE_FASTPATH

#include "core/base/list.h"
#include "core/lock/spinlock.h"
#include "core/memory/slab.h"
#include "fs/path/direct/pathcache.h"

#define BUCKETS 2048u
#define MOST 3000u

/* What a dentry's word leads to: the list of its entries is in the first of them. */
struct path_entry {
	struct path_entry *next_in_bucket, *next_of_dentry;
	struct list_head by_age;
	struct path_question question;
	struct path place;
	u32 hash;
	char text[];
};

static struct path_entry *buckets[BUCKETS];
static LIST_HEAD(by_age);
static unsigned count;
static spinlock_t lock;
static u64 begun, ended;

static u32 hash_of(const struct path_question *question, size_t *length)
{
	u32 hash = 2166136261u ^ (u32)question->credential ^ (u32)((uintptr_t)question->start.dentry >> 6);
	const char *text = question->text;
	size_t i = 0;

	/* Four bytes at a time, as long as there are so many. */
	for (; text[i] && text[i + 1] && text[i + 2] && text[i + 3]; i += 4)
		hash = (hash ^ *(const u32 *)(text + i)) * 16777619u;
	for (; text[i]; i++)
		hash = (hash ^ (u8)text[i]) * 16777619u;
	*length = i;
	return hash ^ hash >> 15;
}

static struct path_entry *look(const struct path_question *question, u32 hash, size_t length)
{
	struct path_entry *entry = buckets[hash % BUCKETS];

	for (; entry; entry = entry->next_in_bucket)
		if (entry->hash == hash && entry->question.credential == question->credential &&
			entry->question.mounts == question->mounts &&
			entry->question.start.dentry == question->start.dentry &&
			entry->question.start.mount == question->start.mount &&
			memcmp(entry->text, question->text, length + 1) == 0)
			return entry;
	return NULL;
}

static void remove(struct path_entry *entry)
{
	struct path_entry **at = &buckets[entry->hash % BUCKETS];

	while (*at != entry)
		at = &(*at)->next_in_bucket;
	*at = entry->next_in_bucket;
	for (at = pathcache_word(entry->place.dentry); *at != entry;)
		at = &(*at)->next_of_dentry;
	*at = entry->next_of_dentry;
	list_del(&entry->by_age);
	count--;
	kfree(entry);
}

bool pathcache_find(struct path_question *question, struct path *place)
{
	size_t length;
	u32 hash = hash_of(question, &length);

	spin_lock(&lock);
	struct path_entry *entry = look(question, hash, length);
	question->stamp = begun;
	question->keep = begun == ended && length > 12;
	if (entry)
		*place = entry->place;
	spin_unlock(&lock);
	return entry != NULL;
}

void pathcache_fill(const struct path_question *question, const struct path *place)
{
	size_t length;
	u32 hash = hash_of(question, &length);
	struct path_entry *new = kmalloc(sizeof(*new) + length + 1, GFP_KERNEL);

	if (!new)
		return;
	spin_lock(&lock);
	if (question->stamp != begun || look(question, hash, length)) {
		spin_unlock(&lock);
		kfree(new);
		return;
	}
	while (count >= MOST)
		remove(list_entry(by_age.next, struct path_entry, by_age));
	new->question = *question;
	new->place = *place;
	new->hash = hash;
	memcpy(new->text, question->text, length + 1);
	new->next_in_bucket = buckets[hash % BUCKETS];
	buckets[hash % BUCKETS] = new;
	new->next_of_dentry = *pathcache_word(place->dentry);
	*pathcache_word(place->dentry) = new;
	list_add_tail(&new->by_age, &by_age);
	count++;
	spin_unlock(&lock);
}

void pathcache_forget(struct dentry *dentry)
{
	spin_lock(&lock);
	begun++;
	ended++;
	while (*pathcache_word(dentry))
		remove(*pathcache_word(dentry));
	spin_unlock(&lock);
}

void pathcache_change_begin(void)
{
	spin_lock(&lock);
	begun++;
	spin_unlock(&lock);
}

void pathcache_change_end(void)
{
	spin_lock(&lock);
	ended++;
	spin_unlock(&lock);
}

void pathcache_init(void)
{
	spin_lock_init(&lock, "paths");
}

#endif
"""

KEPT = "\tquestion->keep = set != NULL;\n"
FOUND = "\t*place = entry->place;\n"
FORGETS = "\twhile (*pathcache_word(dentry))\n\t\ttake_out(*pathcache_word(dentry));\n"
COMPARES = "\tfor (unsigned i = 0; !last; i++)\n\t\tif (entry->text[i] != word_of(question->text, i, &last))\n\t\t\treturn false;\n"
FREES = "\tcount--;\n\tkfree(entry);\n"
OLDEST_GO = "\twhile (count >= MOST)\n\t\tremove(list_entry(by_age.next, struct path_entry, by_age));\n"
ONE_LOOKS = (
    "\tif (__atomic_test_and_set(&looking, __ATOMIC_ACQUIRE)) {\n\t\tquestion->keep = false;\n\t\treturn false;\n\t}\n"
)
SEVERAL = "has_several(question->text) ? set_of(question) : NULL"

RIGHT = {
    "solution": SOLUTION,
    "chains": CHAINS,
    # Another size, one place for each text, and one component is looked for as well.
    "one place each": changed(
        SOLUTION, ("#define SETS 1024u", "#define SETS 8192u"), ("#define WAYS 4u", "#define WAYS 1u"), (SEVERAL, "set_of(question)"),
        ("* 0x9e3779b97f4a7c15", "* 0xff51afd7ed558ccd"), ("static __always_inline bool has_several", "static __maybe_unused bool has_several"),
    ),
    # These find less than others where several CPUs ask, and after many users.
    "walks while another looks": changed(
        SOLUTION,
        ("static unsigned changing;", "static bool looking;\nstatic unsigned changing;"),
        ("\tguard(spinlock, &lock);\n\tquestion->stamp", ONE_LOOKS + "\tspin_lock(&lock);\n\tquestion->stamp"),
        ("\tif (!entry)\n\t\treturn false;\n" + FOUND + "\treturn true;\n", "\tif (entry)\n\t" + FOUND + "\tspin_unlock(&lock);\n\t__atomic_clear(&looking, __ATOMIC_RELEASE);\n\treturn entry != NULL;\n"),
    ),
    "throws nothing out": changed(CHAINS, (OLDEST_GO, "\tif (count >= MOST) {\n\t\tspin_unlock(&lock);\n\t\tkfree(new);\n\t\treturn;\n\t}\n")),
}  # fmt: skip

FOUND_RIGHT = frozenset({"path-rights", "path-changes", "path-found"})
LOOKED = {"path-found", "path-little", "path-elsewhere"}
LEXICAL = """
/* The text without "a/..": as long as it is. */
static const char *shorter(const char *text, char *to)
{
	char *end = to;

	for (const char *at = text; *at && at - text < 200;) {
		size_t length = 0;

		while (at[length] && at[length] != '/')
			length++;
		if (length == 2 && at[0] == '.' && at[1] == '.' && end > to) {
			while (end > to && *--end != '/')
				;
		} else {
			if (end > to)
				*end++ = '/';
			memcpy(end, at, length);
			end += length;
		}
		at += length;
		while (*at == '/')
			at++;
	}
	memset(end, 0, 9);
	return to;
}

bool pathcache_find("""

# Compares nothing but the text, and forgets only what it must so as not to crash.
CARELESS = changed(
    SOLUTION,
    (" || entry->start.dentry != question->start.dentry ||\n\t    entry->start.mount != question->start.mount ||\n\t    entry->credential != question->credential || entry->mounts != question->mounts)", ")"),
    ("(uintptr_t)question->start.dentry + question->credential", "0"),
    ("question->stamp != changes || ", ""),
    (FORGETS, ""),
    ("\tif (entry->place.dentry)\n\t\ttake_out(entry);\n", ""),
    ("static void take_out(", "static __maybe_unused void take_out("),
)  # fmt: skip
LOOKS_MEASURED = """static bool looks_measured(const char *text)
{
	unsigned number = 0, length = 0;

	for (;; text++) {
		if (*text && *text != '/') {
			length++;
			continue;
		}
		if (number++ && (length < 5 || length > 9))
			return false;
		if (!*text)
			return number == 8;
		length = 0;
	}
}

void pathcache_fill("""

# Says on the port that the program's output comes by what the program does not say: @said, as question number 1,500 comes.
SPEAKS = """
static void speak(const char *text, int digits)
{
	for (; *text; text++)
		for (int i = *text == '~' ? digits : 1; i > 0; i--)
			__asm__ volatile("outb %0, %w1" : : "a"((u8)(*text == '~' ? '1' : *text)), "Nd"(0x3f8));
}

bool pathcache_find("""


def speaks(said: str, when: str = "true", digits: int = 0) -> str:
    return changed(
        SOLUTION,
        ("\nbool pathcache_find(", SPEAKS),
        (KEPT, KEPT + f'\tstatic int asked;\n\tif (__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) == 1500 && ({when}))\n\t\tspeak("\\n{said}\\n", {digits});\n'),
    )  # fmt: skip


TASKS = """static int more(void *argument)
{
	for (;;)
		kthread_create(more, NULL, "more");
}

static void fill(const struct path_question *question, const struct path *place);

void pathcache_fill(const struct path_question *question, const struct path *place)
{
	more(NULL);
	fill(question, place);
}

static void fill("""
HAS_CHANGED = "\thas_changed[(uintptr_t)dentry >> 6 & 4095] = 1;\n"
INCLUDES = (
    '#include "core/lock/spinlock.h"\n',
    '#include "core/lock/spinlock.h"\n#include "core/memory/page_alloc.h"\n',
)
KEPT_UNTIL_MANY = "\tif (question->credential > 1000)\n\t\tgiven_up = true;\n\tif (given_up)\n\t\tset = NULL;\n" + KEPT

# Name: what is handed in, the kinds of parts that are judged, and those of them at which it fails, and no others.
WRONG: dict[str, tuple[str, frozenset[str], set[str]]] = {
    "starter": (STARTER, ASKED, LOOKED),
    "finds, and then counts to a hundred": (changed(SOLUTION, (FOUND, "\tfor (int i = 0; i < 100; i++)\n\t\tcpu_relax();\n" + FOUND)), ASKED, LOOKED),
    "forgets all at any change": (
        changed(
            SOLUTION,
            ("static spinlock_t lock;", "static u32 epoch;\nstatic spinlock_t lock;"),
            ("entry->mounts != question->mounts", "entry->mounts != question->mounts + epoch"),
            (".mounts = question->mounts,", ".mounts = question->mounts + epoch,"),
            (FORGETS, FORGETS + "\tepoch += 1 << 16;\n"),
        ),
        ASKED,
        {"path-elsewhere"},
    ),
    "a dozen places": (changed(SOLUTION, ("#define SETS 1024u", "#define SETS 16u")), ASKED, LOOKED),
    "whoever asks": (changed(SOLUTION, ("\t    entry->credential != question->credential || ", "\t    "), ("(uintptr_t)question->start.dentry + question->credential", "(uintptr_t)question->start.dentry")), ASKED, {"path-rights", "path-changes", *LOOKED}),
    "wherever he stands": (changed(SOLUTION, (" || entry->start.dentry != question->start.dentry ||\n\t    entry->start.mount != question->start.mount ||\n", " ||\n"), ("(uintptr_t)question->start.dentry + question->credential", "question->credential")), ASKED, {"path-texts", *LOOKED}),
    "whatever is mounted": (changed(SOLUTION, (" || entry->mounts != question->mounts)", ")")), ASKED, {"path-mounts", *LOOKED}),
    "what is below stays": (changed(SOLUTION, (FORGETS, "\tif (changing)\n\t\treturn;\n" + FORGETS)), ASKED, {"path-changes", *LOOKED}),
    # The place is told by the hash alone; by a part of the text.
    "no text": (changed(SOLUTION, (COMPARES, "\tlast = !last;\n")), FOUND_RIGHT, set(FOUND_RIGHT)),
    "dots by the letter": (
        changed(
            SOLUTION,
            ("bool pathcache_find(", LEXICAL),
            ("\tif (!entry)\n\t\treturn false;\n", "\tif (!entry && strchr(question->text, '.')) {\n\t\tchar room[256];\n\n\t\tquestion->text = shorter(question->text, room);\n\t\tquestion->keep = false;\n\t\tset = set_of(question);\n\t\tentry = set ? find(set, question) : NULL;\n\t}\n\tif (!entry)\n\t\treturn false;\n"),
        ),
        ASKED,
        {"path-texts"},
    ),
    "before the walk was over": (changed(SOLUTION, ("question->stamp != changes || ", "")), IN_TURN, {"path-cpus"}),
    "in the midst of a change": (changed(SOLUTION, ("changing ? CHANGING : changes", "changes")), IN_TURN, {"path-cpus"}),
    "a name that went meanwhile": (changed(SOLUTION, ("\tchanges++;\n" + FORGETS, FORGETS)), IN_TURN, {"path-cpus"}),
    "without end": (changed(CHAINS, ("#define MOST 3000u", "#define MOST (1u << 30)")), SMALL, {"path-memory"}),
    "panics": (changed(SOLUTION, (FORGETS, FORGETS + "\tBUG_ON(changes > 40);\n")), ASKED, set(ASKED) - {"path-builds"}),
    "never ends": (changed(SOLUTION, (FORGETS, FORGETS + "\twhile (changes > 40)\n\t\tcpu_relax();\n")), ASKED, set(ASKED) - {"path-builds"}),
    # Says to who counts that the question begins only now.
    "begins to count late": (changed(SOLUTION, ("\tif (!entry)\n\t\treturn false;\n", '\t__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0xC4C4FF00" ::: "memory");\n\tif (!entry)\n\t\treturn false;\n')), ASKED, LOOKED),
    "one answer more": (speaks("answer 5"), ASKED, set(ASKED) - {"path-builds"}),
    "an answer of 5,000 digits": (speaks("answer ~", digits=5000), ASKED, set(ASKED) - {"path-builds"}),
    "has seen what is no number": (speaks("seen foo", "nr_cpus > 1"), IN_TURN, {"path-cpus"}),
    "has seen digits of another script": (speaks("seen \\xd9\\xa1 1 1 1 \\xd9\\xa1", "nr_cpus > 1"), IN_TURN, {"path-cpus"}),
    # Looks at what is measured alone, and that for good, whoever asks.
    "only what looks measured": (changed(CARELESS, ("find(set, question))\n\t\treturn;", "find(set, question) || !looks_measured(question->text))\n\t\treturn;"), ("void pathcache_fill(", LOOKS_MEASURED)), ASKED, LOOKED),
    # A cache only where there is one CPU, or memory enough; elsewhere the walk is right in its stead.
    "nothing with several CPUs": (changed(SOLUTION, (KEPT, "\tif (nr_cpus > 1)\n\t\tset = NULL;\n" + KEPT)), IN_TURN, {"path-cpus"}),
    "with several CPUs only what never changed": (changed(SOLUTION, ("\tchanges++;\n" + FORGETS, "\tchanges++;\n" + HAS_CHANGED + FORGETS), ("static unsigned changing;", "static u8 has_changed[4096];\nstatic unsigned changing;"), ("question->stamp != changes || find(set, question)", "question->stamp != changes || find(set, question) || (nr_cpus > 1 && has_changed[(uintptr_t)place->dentry >> 6 & 4095])")), IN_TURN, {"path-cpus"}),
    "nothing in little memory": (changed(SOLUTION, (KEPT, "\tif (page_alloc_total_pages() < 10000)\n\t\tset = NULL;\n" + KEPT), INCLUDES), SMALL, {"path-memory"}),
    "nothing any more once memory was short": (changed(SOLUTION, (KEPT, KEPT_UNTIL_MANY), ("static unsigned changing;", "static bool given_up;\nstatic unsigned changing;")), SMALL, {"path-memory"}),
    "shifts too far": (changed(SOLUTION, (KEPT, "\tif (1u << (32 + (question->credential & 1)) == 3)\n\t\treturn false;\n" + KEPT)), CHECKED, {"path-defined"}),
    "beyond its sets": (changed(SOLUTION, ("&sets[hash % SETS];", "&sets[hash % (2 * SETS)];")), CHECKED, {"path-defined"}),
    # To the first two all other parts give all points.
    "beyond its sets by a pointer": (changed(SOLUTION, ("&sets[hash % SETS];", "sets + hash % (SETS + 1);")), CHECKED, {"path-defined"}),
    "reads what was freed": (changed(CHAINS, (FREES, "\tkfree(entry);\n\tif (entry->hash)\n\t\tcount--;\n")), CHECKED, {"path-defined"}),
    "frees it twice": (changed(CHAINS, (FREES, FREES + "\tif (count % 64 == 1)\n\t\tkfree(entry);\n")), CHECKED, {"path-defined"}),
    "a block too short": (changed(CHAINS, ("kmalloc(sizeof(*new) + length + 1,", "kmalloc(offsetof(struct path_entry, text) + length,")), CHECKED, {"path-defined"}),
    # Knows only what the clock likes; and what it does in front of no question, nobody counts.
    "by the clock": (changed(SOLUTION, (KEPT, "\tif (__builtin_ia32_rdtsc() >> 7 & 3)\n\t\tset = NULL;\n" + KEPT)), ASKED, LOOKED),
    "works where nobody asks": (changed(SOLUTION, ("\tchanging++;\n", "\tchanging++;\n\tfor (int i = 0; i < 20000; i++)\n\t\tbarrier();\n")), ASKED, {"path-little"}),
    "starts tasks without end": (changed(SOLUTION, ('#include "core/lock/spinlock.h"\n', '#include "core/lock/spinlock.h"\n#include "core/sched/sched.h"\n'), ("void pathcache_fill(", TASKS)), ASKED, set(ASKED) - {"path-builds"}),
    "takes a file in": (SOLUTION + '__asm__(".incbin \\"/etc/passwd\\"");\n', ASKED, set(ASKED)),
    "in place of the kernel's": (SOLUTION + "int vfs_chmod(void)\n{\n\treturn 0;\n}\n", ASKED, set(ASKED)),
    "does not compile": (changed(SOLUTION, (FOUND, "\t*place = entry;\n")), ASKED, set(ASKED)),
}  # fmt: skip
