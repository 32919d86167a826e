/*
 * side.h - native: the rows, over calls that the file which includes this has defined before: the
 * hosted kernel's, or the host's. Each call_NAME() is the system call, and gives what it gives or
 * -errno.
 *
 * The tree stands in the folder where the calling process stands. Of each set of names (`s`, the
 * same for all threads; `o0`, `o1` ... one for each thread) there are
 *
 *	s-f  s/f  s/b/c/f  s/b/c/d/e/g/h/f	empty files, of 1, 2, 4 and 8 components
 *	s/data					64 KB
 *	s/hundred/				a hundred empty files
 *	s/new/  s/old/				where files are made and removed, and renamed
 *
 * and `mix`, in which threads make, remove and rename the same few names.
 */
#include <stdio.h>
#include <string.h>

#define HUNDRED 100
#define SET_BYTES 16 /* of a set's name */
#define DATA_BYTES 65536
#define PREAD_BYTES 4096
#define MIX_KEPT 8  /* names that are always there */
#define MIX_NAMES 8 /* names that come and go */

static const char *const folders[] = {"",	  "/b",		"/b/c",		"/b/c/d",
				      "/b/c/d/e", "/b/c/d/e/g", "/b/c/d/e/g/h", "/hundred",
				      "/new",	  "/old"};
static const char *const files[LENGTHS] = {"-f", "/f", "/b/c/f", "/b/c/d/e/g/h/f"};

static inline void expect(long result, const char *call, const char *name)
{
	if (__builtin_expect(result < 0, 0))
		measure_fail(call, name, result);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void file_create(const char *path)
{
	long fd = call_open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

	expect(fd, "open", path);
	expect(call_close((int)fd), "close", path);
}

static void set_name(char set[SET_BYTES], unsigned cpu, enum place place)
{
	if (place == PLACE_SAME)
		strcpy(set, "s");
	else
		snprintf(set, SET_BYTES, "o%u", cpu);
}

static void fill_data(const char *set)
{
	char path[PATH_BYTES] = {0};
	static char block[DATA_BYTES];
	long fd;

	snprintf(path, sizeof(path), "%s/data", set);
	fd = call_open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	expect(fd, "open", path);
	memset(block, 'x', sizeof(block));
	if (call_pwrite((int)fd, block, sizeof(block), 0) != DATA_BYTES)
		measure_fail("pwrite", path, 0);
	expect(call_close((int)fd), "close", path);
}

/* Call folder(), then file() for each of @set but data. */
static void each_of_set(const char *set, void (*folder)(const char *path),
			void (*file)(const char *path))
{
	char path[PATH_BYTES] = {0};

	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", set, folders[i]);
		folder(path);
	}
	for (unsigned i = 0; i < LENGTHS; i++) {
		snprintf(path, sizeof(path), "%s%s", set, files[i]);
		file(path);
	}
	for (unsigned i = 0; i < HUNDRED; i++) {
		snprintf(path, sizeof(path), "%s/hundred/name-%u", set, i);
		file(path);
	}
}

static void folder_create(const char *path)
{
	expect(call_mkdir(path, 0755), "mkdir", path);
}

static void each_set(unsigned threads, void (*visit)(const char *set))
{
	char set[SET_BYTES];

	visit("s");
	for (unsigned cpu = 0; cpu < threads; cpu++) {
		set_name(set, cpu, PLACE_OWN);
		visit(set);
	}
}

static void make_set(const char *set)
{
	each_of_set(set, folder_create, file_create);
	fill_data(set);
}

static void mix_name(char path[PATH_BYTES], const char *kind, unsigned number)
{
	snprintf(path, PATH_BYTES, "mix/%s%u", kind, number);
}

static void prepare_tree(unsigned threads)
{
	char path[PATH_BYTES] = {0};

	each_set(threads, make_set);
	folder_create("mix");
	for (unsigned i = 0; i < MIX_KEPT; i++) {
		mix_name(path, "kept", i);
		file_create(path);
	}
}

static void worker_begin(struct worker *worker, unsigned cpu, enum place place)
{
	char set[SET_BYTES], path[PATH_BYTES] = {0};

	memset(worker, 0, sizeof(*worker));
	worker->cpu = cpu;
	worker->place = place;
	worker->random = cpu + 1;
	set_name(set, cpu, place);
	for (unsigned i = 0; i < LENGTHS; i++)
		snprintf(worker->file[i], PATH_BYTES, "%s%s", set, files[i]);
	snprintf(worker->made, PATH_BYTES, "%s/new/made%u", set, cpu);
	for (unsigned i = 0; i < 2; i++)
		snprintf(worker->name[i], PATH_BYTES, "%s/old/%c%u", set, "ab"[i], cpu);
	file_create(worker->name[0]);
	snprintf(path, sizeof(path), "%s/data", set);
	worker->data = (int)call_open(path, O_RDONLY, 0);
	expect(worker->data, "open", path);
	snprintf(path, sizeof(path), "%s/hundred", set);
	worker->directory = (int)call_open(path, O_RDONLY | O_DIRECTORY, 0);
	expect(worker->directory, "open", path);
}

static void worker_end(struct worker *worker)
{
	expect(call_unlink(worker->name[0]), "unlink", worker->name[0]);
	expect(call_close(worker->data), "close", "data");
	expect(call_close(worker->directory), "close", "hundred");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static __always_inline void stat_turns(struct worker *worker, unsigned turns, enum length length)
{
	const char *path = worker->file[length];

	while (turns--)
		expect(call_stat(path, worker->buffer), "stat", path);
}

static void stat_1(struct worker *worker, unsigned turns)
{
	stat_turns(worker, turns, COMPONENTS_1);
}

static void stat_2(struct worker *worker, unsigned turns)
{
	stat_turns(worker, turns, COMPONENTS_2);
}

static void stat_4(struct worker *worker, unsigned turns)
{
	stat_turns(worker, turns, COMPONENTS_4);
}

static void stat_8(struct worker *worker, unsigned turns)
{
	stat_turns(worker, turns, COMPONENTS_8);
}

static void open_close(struct worker *worker, unsigned turns)
{
	const char *path = worker->file[COMPONENTS_2];

	while (turns--) {
		long fd = call_open(path, O_RDONLY, 0);

		expect(fd, "open", path);
		expect(call_close((int)fd), "close", path);
	}
}

static void pread_page(struct worker *worker, unsigned turns)
{
	while (turns--)
		if (call_pread(worker->data, worker->buffer, PREAD_BYTES, 0) != PREAD_BYTES)
			measure_fail("pread", "data", 0);
}

static void create_unlink(struct worker *worker, unsigned turns)
{
	while (turns--) {
		file_create(worker->made);
		expect(call_unlink(worker->made), "unlink", worker->made);
	}
}

/* There and back: an even number, and one more if need be. */
static void rename_turns(struct worker *worker, unsigned turns)
{
	for (turns += turns & 1; turns; turns -= 2) {
		expect(call_rename(worker->name[0], worker->name[1]), "rename", worker->name[0]);
		expect(call_rename(worker->name[1], worker->name[0]), "rename", worker->name[1]);
	}
}

/* What struct linux_dirent64 begins with is the same on both sides. */
struct entry {
	uint64_t inode, next;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Names from where @fd stands on, up to the end, for which @counts says true; @buffer's are lost.
 */
static unsigned count_entries(int fd, char *buffer, bool (*counts)(const char *name))
{
	unsigned found = 0;
	long n;

	while ((n = call_getdents(fd, buffer, BUFFER_BYTES)) > 0)
		for (long at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(buffer + at);

			found += counts(entry->name);
			at += entry->length;
		}
	expect(n, "getdents64", "a directory");
	return found;
}

static bool any_name(const char *name)
{
	return name[0] != '.';
}

static void readdir_hundred(struct worker *worker, unsigned turns)
{
	while (turns--) {
		unsigned found;

		expect(call_lseek(worker->directory, 0, SEEK_SET), "lseek", "hundred");
		found = count_entries(worker->directory, worker->buffer, any_name);
		if (found != HUNDRED)
			measure_fail("getdents64: entries of", "hundred", (long)found);
	}
}

#define CALL_ROWS                                                                                  \
	{"stat 1", 1, stat_1, false}, {"stat 2", 1, stat_2, false}, {"stat 4", 1, stat_4, false},  \
		{"stat 8", 1, stat_8, false}, {"open+close", 2, open_close, false},                \
		{"pread 4K", 1, pread_page, false}, {"create+unlink", 3, create_unlink, false},    \
		{"rename", 1, rename_turns, false},                                                \
	{                                                                                          \
		"readdir 100", 3, readdir_hundred, false                                           \
	}

/* ---- threads at odds ------------------------------------------------------------------------- */

/* 0, or one of the two errors that another thread can be the cause of. */
static bool mixed_result(long result, const char *call, const char *path)
{
	if (result < 0 && result != -ENOENT && result != -EEXIST)
		measure_fail(call, path, result);
	return result >= 0;
}

static bool is_kept(const char *name)
{
	return strncmp(name, "kept", 4) == 0;
}

static void mix_list(struct worker *worker)
{
	long fd = call_open("mix", O_RDONLY | O_DIRECTORY, 0);
	unsigned kept;

	expect(fd, "open", "mix");
	kept = count_entries((int)fd, worker->buffer, is_kept);
	if (kept != MIX_KEPT)
		measure_fail("getdents64: names that are always there, of", "mix", (long)kept);
	expect(call_close((int)fd), "close", "mix");
}

static void mix_make(struct worker *worker, const char *path)
{
	long fd = call_open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (!mixed_result(fd, "open", path))
		return;
	worker->mixed.made++;
	if (call_pwrite((int)fd, path, 4, 0) != 4)
		measure_fail("pwrite", path, 0);
	expect(call_close((int)fd), "close", path);
}

static void mix_look(struct worker *worker, const char *path)
{
	long fd = call_open(path, O_RDONLY, 0), n;

	if (!mixed_result(fd, "open", path))
		return;
	n = call_pread((int)fd, worker->buffer, PREAD_BYTES, 0);
	if (n != 0 && n != 4)
		measure_fail("pread", path, n);
	expect(call_close((int)fd), "close", path);
}

/* A kept name must be found; what else there is may come and go. */
static void mix_turn(struct worker *worker)
{
	uint64_t random = random_next(&worker->random);
	char kept[PATH_BYTES] = {0}, one[PATH_BYTES] = {0}, other[PATH_BYTES] = {0};

	mix_name(kept, "kept", random % MIX_KEPT);
	mix_name(one, "name", random / MIX_KEPT % MIX_NAMES);
	mix_name(other, "name", random / MIX_KEPT / MIX_NAMES % MIX_NAMES);
	switch (random >> 32 & 7) {
	case 0:
		mix_make(worker, one);
		break;
	case 1:
		worker->mixed.removed += mixed_result(call_unlink(one), "unlink", one);
		break;
	case 2:
		mixed_result(call_rename_new(one, other), "renameat2", one);
		break;
	case 3:
		mix_look(worker, one);
		break;
	case 4:
		mixed_result(call_stat(one, worker->buffer), "stat", one);
		break;
	case 5:
		mix_list(worker);
		break;
	case 6:
		expect(call_chmod(kept, random & 0x100 ? 0600 : 0644), "chmod", kept);
		break;
	default:
		expect(call_stat(kept, worker->buffer), "stat", kept);
	}
	worker->mixed.turns++;
}

static void mix_turns(struct worker *worker, unsigned turns)
{
	while (turns--)
		mix_turn(worker);
}

static bool comes_and_goes(const char *name)
{
	return strncmp(name, "name", 4) == 0;
}

/* What is left of the names that come and go: as listed, of which each is found. */
static uint64_t mix_names_left(void)
{
	static char buffer[BUFFER_BYTES];
	char path[PATH_BYTES] = {0};
	long fd = call_open("mix", O_RDONLY | O_DIRECTORY, 0);
	uint64_t listed, found = 0;

	expect(fd, "open", "mix");
	listed = count_entries((int)fd, buffer, comes_and_goes);
	expect(call_close((int)fd), "close", "mix");
	for (unsigned i = 0; i < MIX_NAMES; i++) {
		mix_name(path, "name", i);
		found += call_stat(path, buffer) == 0;
	}
	if (found != listed)
		measure_fail("stat: not as many names as are listed in", "mix", (long)found);
	return listed;
}

/* ---- files by number ------------------------------------------------------------------------- */

static void numbered_make(uint64_t file)
{
	char path[PATH_BYTES] = {0}, folder[PATH_BYTES] = {0};

	if (file % FILES_A_FOLDER == 0) {
		snprintf(folder, sizeof(folder), "d%llu",
			 (unsigned long long)(file / FILES_A_FOLDER));
		folder_create(folder);
	}
	file_name(path, file);
	file_create(path);
}

static void numbered_remove(uint64_t file)
{
	char path[PATH_BYTES] = {0};

	file_name(path, file);
	expect(call_unlink(path), "unlink", path);
	if (file % FILES_A_FOLDER == 0) {
		*strchr(path, '/') = '\0';
		expect(call_rmdir(path), "rmdir", path);
	}
}

static void numbered_stat(const char *path)
{
	char buffer[256];

	expect(call_stat(path, buffer), "stat", path);
}

/* What is said here of a struct side. */
#define SIDE_ROWS                                                                                  \
	.begin = worker_begin, .end = worker_end, .mix = mix_turns, .mix_left = mix_names_left,    \
	.file_make = numbered_make, .file_remove = numbered_remove, .file_stat = numbered_stat
