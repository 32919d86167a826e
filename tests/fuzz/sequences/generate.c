/*
 * generate.c - a sequence from a seed, and its text form.
 *
 * What is drawn never depends on what a call returned, so that both systems get the same sequence.
 * Names are few, so that operations meet; the first ones of a sequence make things rather than ask.
 */
#include "filefuzz.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>

static uint64_t state;
static char theme; /* of this sequence: such kinds come more often, and meet on fewer names */

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

#define PICK(list) (list)[draw(sizeof(list) / sizeof((list)[0]))]

static const struct number_set {
	char letter;
	int count;
	long values[18];
} number_sets[] = {
	{'m',
	 14,
	 {0644, 0755, 0777, 0700, 0600, 0755, 0444, 0222, 0111, 01777, 02775, 04755, 0070, 07777}},
	{'T',
	 8,
	 {S_IFIFO | 0666, S_IFIFO | 0600, S_IFREG | 0644, S_IFSOCK | 0755, 0600, S_IFCHR | 0666,
	  S_IFDIR | 0755, S_IFBLK | 0600}},
	{'s',
	 16,
	 {0, 1, 7, 100, 511, 512, 1000, 1023, 1024, 4095, 4096, 4097, 5000, 8192, 12000, 70000}},
	{'o',
	 18,
	 {0, 1, 10, 511, 512, 4095, 4096, 4097, 8191, 8192, 12288, 20000, 49151, 49152, 65536,
	  100000, 4243455, 1 << 20}},
	{'O',
	 8,
	 {-1, 1L << 31, 1L << 32, 1L << 40, 1L << 62, INT64_MAX, 4243456,
	  -4096}}, /* a few of 'o' */
	{'w', 4, {SEEK_SET, SEEK_CUR, SEEK_END, 9}},
	{'u', 4, {-1, 0, 1000, 1001}},
	{'g', 4, {-1, 0, 1000, 1001}},
	{'t', 6, {-1, -2, 0, 1, 86400, 999999}},
	{'p', 3, {0, 1, 2}},
	{'a', 12, {0, 1, 100, 511, 4095, 4096, 5000, 8191, 8192, 12287, 16384, 30000}},
	{'l', 5, {1, 2, 3, 4, 8}},
	{'z', 8, {0, 1, 7, 100, 511, 1000, 4095, 5000}},
	{'q', 5, {0, 0, 4096, 8192, 512}},
	{'A', 4, {0, AT_REMOVEDIR, AT_REMOVEDIR, 1}},
	{'B', 3, {0, 0, AT_SYMLINK_FOLLOW}},
	{'C', 7, {0, 0, 1, 1, 2, 2, 3}},
	{'D', 3, {0, AT_SYMLINK_NOFOLLOW, 1}},
	{'E', 4, {0, AT_EACCESS, AT_SYMLINK_NOFOLLOW, AT_EACCESS | AT_SYMLINK_NOFOLLOW}},
	{'G', 6, {0, 1, 3, 3, 0x10, 2}},
	{'H', 3, {LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB, LOCK_UN}},
	{'I', 3, {F_RDLCK, F_WRLCK, F_UNLCK}},
	{'K', 4, {0, 0, 1, 2}},
	{'L', 6, {0, 0, 0, 1, 2, 3}},
	{'M', 6, {0, MS_RDONLY, MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC}},
	{'P', 4, {PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_NONE}},
	{'Q', 2, {MAP_SHARED, MAP_PRIVATE}},
	{'R', 3, {MADV_DONTNEED, MADV_NORMAL, MADV_WILLNEED}},
	{'S', 6, {1, 2, 3, 4, 6, 9}},
	{'U', 4, {0, 0, MNT_DETACH, 8}},
	{'V', 8, {0, 1, 2, 3, 4, 5, 6, 7}},
	{'W', 4, {MS_SYNC, MS_ASYNC, MS_INVALIDATE, 64}},
};

static long draw_number(char letter)
{
	for (size_t i = 0; i < sizeof(number_sets) / sizeof(number_sets[0]); i++)
		if (number_sets[i].letter == letter)
			return number_sets[i].values[draw((uint64_t)number_sets[i].count)];
	abort();
}

static long draw_flags(void)
{
	static const int ways[] = {O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDWR};
	long flags = PICK(ways);

	if (draw(3))
		flags |= O_CREAT;
	if (!draw(6))
		flags |= O_TRUNC;
	if (!draw(8))
		flags |= O_EXCL;
	if (!draw(8))
		flags |= O_APPEND;
	if (!draw(8))
		flags |= O_DIRECTORY;
	if (!draw(8))
		flags |= O_NOFOLLOW;
	if (!draw(12))
		flags |= O_PATH;
	if (flags & O_CREAT && flags & O_DIRECTORY) /* Linux has changed its mind about both */
		flags &= ~O_DIRECTORY;
	return flags;
}

static void draw_path(char *text, bool target)
{
	static const char *const plain[] = {"a", "b", "c", "a", "b", "c", "a",
					    "b", "c", "a", "b", "d", ".", ".."};
	static const char *const odd[] = {"",	  ".",	   "..",     "/",      "/a",
					  "/a/b", "a/",	   "b/",     "c/.",    "a/..",
					  "b//a", "@255",  "a/@255", "@256",   "./b",
					  "../a", "/../c", "d/../a", "a/./b/", "@100"};
	static const char *const targets[] = {"@59", "@60", "@61", "@1023", "@4095"};
	int depth = 1, names = strchr("xlm", theme) ? 2 : 12;

	if (target && !draw(6)) {
		strcpy(text, PICK(targets));
		return;
	}
	if (!draw(9)) {
		strcpy(text, PICK(odd));
		return;
	}
	strcpy(text, plain[draw((uint64_t)names)]);
	while (depth++ < 3 && !draw(5)) {
		strcat(text, "/");
		strcat(text, PICK(plain));
	}
}

/* Of descriptors: how many are used again and again. */
static uint64_t usual_slots(void)
{
	return strchr("xlm", theme) ? 2 : 3;
}

static void draw_argument(char letter, struct argument *argument)
{
	static const char *const attributes[] = {"user.a",     "user.b", "user.c", "trusted.a",
						 "security.a", "user.",	 "a",	   "user.@250"};
	static const char *const places[] = {"a", "b", "a", "b", "a/b", "."};

	argument->text[0] = 0;
	argument->number = 0;
	if (letter == 'n' || letter == 'N')
		draw_path(argument->text, letter == 'N');
	else if (letter == 'X' && !draw(6))
		draw_path(argument->text, false);
	else if (letter == 'X')
		strcpy(argument->text, PICK(places));
	else if (letter == 'J')
		strcpy(argument->text, draw(4) ? attributes[draw(2)] : PICK(attributes));
	else if (letter == 'f')
		argument->number = (long)draw(draw(6) ? usual_slots() : 8);
	else if (letter == 'd')
		argument->number = draw(4) ? -1 : (long)draw(5);
	else if (letter == 'F')
		argument->number = draw_flags();
	else
		argument->number = draw_number(letter == 'o' && !draw(20) ? 'O' : letter);
}

static int weight_of(const struct kind *kind)
{
	if (absent[kind - kinds])
		return 0;
	return kind->theme == theme ? 8 * kind->weight : kind->weight;
}

static const struct kind *draw_kind(bool making)
{
	for (;;) {
		const struct kind *kind = kinds;
		int left = 0;

		for (int i = 0; i < kind_count; i++)
			left += weight_of(&kinds[i]);
		for (left = (int)draw((uint64_t)left); left >= weight_of(kind); kind++)
			left -= weight_of(kind);
		if (!making || !strcmp(kind->name, "mkdir") || !strcmp(kind->name, "open") ||
		    !strcmp(kind->name, "link") || !strcmp(kind->name, "symlink"))
			return kind;
	}
}

void generate(struct sequence *sequence, unsigned long seed)
{
	state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	for (int i = 0; i < 4; i++)
		draw(2);
	theme = "inaxlmt "[draw(8)];
	sequence->name = seed;
	sequence->count = 12 + (int)draw(60);
	for (int i = 0; i < sequence->count; i++) {
		struct operation *operation = &sequence->operations[i];

		operation->kind = draw_kind(i < 6);
		for (int j = 0; operation->kind->arguments[j]; j++)
			draw_argument(operation->kind->arguments[j], &operation->arguments[j]);
	}
}

/* ---- text --------------------------------------------------------------------------------------
 */

void print_operation(const struct operation *operation, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "%s", operation->kind->name);

	for (int i = 0; operation->kind->arguments[i] && n < size; i++) {
		const struct argument *argument = &operation->arguments[i];
		char letter = operation->kind->arguments[i];

		if (strchr("nNJX", letter))
			n += (size_t)snprintf(text + n, size - n, " %s",
					      argument->text[0] ? argument->text : "\"\"");
		else
			n += (size_t)snprintf(text + n, size - n,
					      strchr("mTF", letter) ? " %#lo" : " %ld",
					      argument->number);
	}
}

bool parse_operation(struct operation *operation, char *line)
{
	char *word = strtok(line, " \n");

	operation->kind = NULL;
	for (int i = 0; word && i < kind_count; i++)
		if (!strcmp(kinds[i].name, word))
			operation->kind = &kinds[i];
	if (!operation->kind)
		return false;
	for (int i = 0; operation->kind->arguments[i]; i++) {
		struct argument *argument = &operation->arguments[i];

		word = strtok(NULL, " \n");
		if (!word || strlen(word) >= MAX_TEXT)
			return false;
		argument->number = strtol(word, NULL, 0);
		strcpy(argument->text, strcmp(word, "\"\"") ? word : "");
	}
	return !strtok(NULL, " \n");
}
