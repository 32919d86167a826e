/* exercise.c - hosted: see exercise.h. */
#include "fs/start.h"
#include "hosted/harness/exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosted/harness/harness.h"

#define PLACES 96      /* files and directories that are remembered */
#define VISITS 1500    /* names looked at in all */
#define DEPTH 12
#define DIR_NAMES 200  /* of one directory */
#define READ_PIECE KB(16)

struct exercise_counts exercise_counts;

static struct rng rng;
static char files[PLACES][PATH_MAX], dirs[PLACES][PATH_MAX];
static unsigned file_count, dir_count, visits;
static u64 errors_before;
static bool changed;

static u64 pick(u64 n)
{
	return rng_below(&rng, n);
}

/* ---- each call, and what it may return --------------------------------------------------------
 */

/* A new second, so that each damage found gets a line. */
static void before(void)
{
	hosted_clock_ns += 2 * NSEC_PER_SEC;
	hosted_last_error[0] = 0;
}

static s64 judge(s64 result, bool changes, const char *call, int line)
{
	exercise_counts.calls++;
	if (result >= 0)
		return result;
	if (result == -EIO)
		exercise_counts.eio++;
	else if (result == -EUCLEAN)
		exercise_counts.euclean++;
	else
		exercise_counts.others++;
	if (result == -EIO || result == -EUCLEAN) {
		if (!hosted_last_error[0])
			test_failed(__FILE__, line, "%s: %lld, and no word in the log", call,
				    (long long)result);
	} else if (!changes) {
		test_failed(__FILE__, line, "%s: %lld", call, (long long)result);
	}
	return result;
}

#define LOOK(call) (before(), judge((call), false, #call, __LINE__))
#define CHANGE(call) (before(), judge((call), true, #call, __LINE__))

/* ---- looking ----------------------------------------------------------------------------------
 */

static s64 read_piece(struct file *file, loff_t position)
{
	static char data[READ_PIECE];
	struct io io = {data, sizeof(data), IO_KERNEL, 0};

	return position < 0 ? 0 : vfs_read(file, &io, &position);
}

static void look_at_attributes(const char *path)
{
	static char list[4096], value[4096];
	s64 length = LOOK(sys_llistxattr(path, list, sizeof(list)));

	for (s64 at = 0; at < length; at += (s64)strlen(list + at) + 1)
		CHANGE(sys_lgetxattr(path, list + at, value, sizeof(value)));
}

static void look_at_file(const char *path, s64 size)
{
	struct file *file = open_path(path, O_RDONLY, 0);

	if (LOOK(PTR_ERR_OR_ZERO(file)))
		return;
	for (unsigned i = 0; i < 4; i++)
		LOOK(read_piece(file, (loff_t)i * READ_PIECE));
	LOOK(read_piece(file, size - READ_PIECE));
	if (size > 0)
		LOOK(read_piece(file, (loff_t)pick((u64)size)));
	fput(file);
}

struct names {
	unsigned count;
	char name[DIR_NAMES][256];
};

static void remember(const char *name, unsigned d_type, void *argument)
{
	struct names *names = argument;

	(void)d_type;
	if (*name && !strchr(name, '/') && names->count < DIR_NAMES)
		strcpy(names->name[names->count++], name);
}

static void look_at_dir(const char *path, unsigned depth);

static void look_at(const char *path, unsigned depth)
{
	char text[PATH_MAX];
	struct kstat stat;

	if (visits++ > VISITS)
		return;
	before();
	/* Once something was written, it may be a directory's block that was written as a file's.
	 */
	if (judge(sys_newfstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW), changed, path, __LINE__))
		return;
	look_at_attributes(path);
	if (S_ISLNK(stat.mode)) {
		LOOK(sys_readlinkat(AT_FDCWD, path, text, sizeof(text)));
		CHANGE(sys_newfstatat(AT_FDCWD, path, &stat, 0)); /* whatever it leads to */
	} else if (S_ISDIR(stat.mode)) {
		look_at_dir(path, depth);
	} else if (S_ISREG(stat.mode)) {
		look_at_file(path, stat.size);
	}
	if (!S_ISDIR(stat.mode) && file_count < PLACES)
		strcpy(files[file_count++], path);
}

static void look_at_dir(const char *path, unsigned depth)
{
	struct names *names = calloc(1, sizeof(*names));
	char inner[PATH_MAX];

	if (dir_count < PLACES)
		strcpy(dirs[dir_count++], path);
	LOOK(list_directory(path, pick(2) ? 0 : 2, remember, names));
	for (unsigned i = 0; i < names->count && depth < DEPTH; i++)
		if (snprintf(inner, sizeof(inner), "%s/%s", path, names->name[i]) <
		    (int)sizeof(inner))
			look_at(inner, depth + 1);
	free(names);
}

/* ---- changing ---------------------------------------------------------------------------------
 */

static const char *some_dir(void)
{
	return dirs[pick(dir_count)];
}

static const char *some_file(void)
{
	return file_count && pick(4) ? files[pick(file_count)] : some_dir();
}

static const char *new_path(void)
{
	static char paths[2][PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % 2];

	if (snprintf(path, PATH_MAX, "%s/new%llu", some_dir(), (unsigned long long)pick(6)) >=
	    PATH_MAX)
		strcpy(path, "/mnt/new");
	return path;
}

/* Devices and pipes are not opened: the first are others', the second wait. */
static bool is_plain(const char *path)
{
	struct kstat stat;

	return sys_newfstatat(AT_FDCWD, path, &stat, 0) == 0 && S_ISREG(stat.mode);
}

static void change(void)
{
	static const char data[5000] = "new data";
	const char *path = some_file(), *other;
	unsigned flags;
	char target[80];

	switch (pick(12)) {
	case 0:
		CHANGE(write_at(new_path(), O_CREAT | O_EXCL | O_WRONLY, (loff_t)pick(KB(300)),
				data, sizeof(data)));
		break;
	case 1:
		CHANGE(sys_mkdirat(AT_FDCWD, new_path(), 0755));
		break;
	case 2:
		memset(target, 'x', sizeof(target));
		target[10 + pick(69)] = 0;
		CHANGE(sys_symlinkat(target, AT_FDCWD, new_path()));
		break;
	case 3:
		CHANGE(sys_linkat(AT_FDCWD, path, AT_FDCWD, new_path(), 0));
		break;
	case 4:
		CHANGE(sys_unlinkat(AT_FDCWD, path, 0));
		break;
	case 5:
		CHANGE(sys_unlinkat(AT_FDCWD, some_dir(), AT_REMOVEDIR));
		break;
	case 6:
	case 7:
		flags = pick(3) ? 0 : RENAME_EXCHANGE;
		other = pick(2) ? new_path() : some_file();
		CHANGE(sys_renameat2(AT_FDCWD, path, AT_FDCWD, other, flags));
		break;
	case 8:
		if (is_plain(path))
			CHANGE(write_at(path, O_WRONLY, (loff_t)pick(KB(100)), data,
					1 + pick(sizeof(data))));
		break;
	case 9:
		CHANGE(truncate_path(path, (loff_t)pick(KB(20))));
		break;
	case 10:
		CHANGE(sys_lsetxattr(path, pick(2) ? "user.name" : "trusted.b", data, pick(60), 0));
		CHANGE(sys_lremovexattr(path, "user.name"));
		break;
	case 11:
		CHANGE(vfs_sync_all());
		break;
	}
}

static void use(void)
{
	file_count = dir_count = visits = 0;
	changed = false;
	look_at("/mnt", 0);
	changed = true;
	for (unsigned i = 0; i < 40 && dir_count; i++)
		change();
	visits = VISITS - 200; /* and again, but not at all of it */
	look_at("/mnt", 0);
}

void exercise(struct hosted_disk *disk, u64 seed)
{
	int error;

	rng.state = seed;
	disk_rng.state = seed;
	exercise_counts.images++;
	errors_before = exercise_counts.eio + exercise_counts.euclean;
	before();
	error = mount_disk(disk->device.name, 0);
	if (error) {
		if (error != -EINVAL && error != -EUCLEAN && error != -EIO)
			test_failed(__FILE__, __LINE__, "mount: %d", error);
		if (!hosted_last_error[0])
			test_failed(__FILE__, __LINE__, "mount: %d, and no word in the log", error);
		exercise_counts.refused[error != -EINVAL]++;
	} else {
		exercise_counts.mounted++;
		use();
		exercise_counts.unharmed +=
			exercise_counts.eio + exercise_counts.euclean == errors_before;
		CHECK_EQUAL(umount_disk(), 0);
	}
	leak_check();
}
