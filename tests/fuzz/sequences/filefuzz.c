/*
 * filefuzz.c - runs sequences, each in a directory and a process of its own, and prints a line for
 * each: its name and the checksum of its trace, or the trace itself.
 *
 *	filefuzz print FIRST COUNT            the sequences of these seeds, as text
 *	filefuzz [options] DIR seeds FIRST COUNT
 *	filefuzz [options] DIR file FILE      "sequence NAME" and its operations, one a line
 *
 * Options: -p find out what does not work here, print it ("absent: flock,setlk") and leave it out;
 * -x A,B,... leave these out of what is generated; -j N processes at once; -v print traces;
 * -d FILE -n N: write "3" there (drop_caches) before every Nth sequence's tree is read.
 */
#include "filefuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TRACE_SIZE (256 << 10)

struct trace {
	bool mounted, filled;
	size_t size;
	char text[TRACE_SIZE];
};

static struct trace *trace; /* shared with the sequence's processes */
bool *mounted, *filled;
static bool verbose;
static const char *drop_file;
static long drop_every;

void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (trace->size < TRACE_SIZE - 600)
		trace->size += (size_t)vsnprintf(trace->text + trace->size, 600, format, arguments);
	va_end(arguments);
}

const char *error_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} errors[] = {
#define E(name) {name, #name}
		E(EPERM),     E(ENOENT),  E(EINTR),	E(EIO),		 E(ENXIO),   E(EBADF),
		E(EAGAIN),    E(ENOMEM),  E(EACCES),	E(EFAULT),	 E(EBUSY),   E(EEXIST),
		E(EXDEV),     E(ENODEV),  E(ENOTDIR),	E(EISDIR),	 E(EINVAL),  E(EMFILE),
		E(ENOTTY),    E(ETXTBSY), E(EFBIG),	E(ENOSPC),	 E(ESPIPE),  E(EROFS),
		E(EMLINK),    E(EPIPE),	  E(ERANGE),	E(ENAMETOOLONG), E(ENOLCK),  E(ENOSYS),
		E(ENOTEMPTY), E(ELOOP),	  E(EOVERFLOW), E(EOPNOTSUPP),	 E(ENODATA), E(ENOTBLK),
		E(E2BIG),     E(EDEADLK), E(ESTALE),
#undef E
	};
	static char other[16];

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == number)
			return errors[i].name;
	snprintf(other, sizeof(other), "E%d", number);
	return other;
}

/* FNV-1a. */
uint32_t checksum(const void *data, size_t size, uint32_t before)
{
	uint32_t sum = before ? before : 2166136261u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const unsigned char *)data)[i]) * 16777619u;
	return sum;
}

/* ---- the tree that is left
 * ----------------------------------------------------------------------- */

#define MAX_LINKED 200
static struct {
	dev_t device;
	ino_t inode;
} linked[MAX_LINKED];
static int linked_count;

/* The number of this inode, in the order in which they are met. */
static int inode_number(const struct stat *st)
{
	int i;

	for (i = 0; i < linked_count; i++)
		if (linked[i].device == st->st_dev && linked[i].inode == st->st_ino)
			return i;
	if (i < MAX_LINKED) {
		linked[i].device = st->st_dev;
		linked[i].inode = st->st_ino;
		linked_count++;
	}
	return i;
}

static void say_contents(const char *path, off_t size)
{
	static char data[1 << 16];
	int fd = open(path, O_RDONLY | O_NOATIME);
	uint32_t sum = 0;
	ssize_t n = 0;

	if (fd < 0) {
		say(" %s", error_name(errno));
		return;
	}
	for (int i = 0; i < 20 && (n = read(fd, data, sizeof(data))) > 0; i++)
		sum = checksum(data, (size_t)n, sum);
	if (n < 0)
		say(" %s", error_name(errno));
	if (size > (1 << 20) && (n = pread(fd, data, 5000, size - 5000)) > 0)
		sum = checksum(data, (size_t)n, sum);
	say(" %08x", sum);
	close(fd);
}

static void say_attributes(const char *path)
{
	char names[4096], value[4096];
	long n = syscall(SYS_llistxattr, path, names, sizeof(names));
	uint32_t sum = 0; /* in whatever order they come */

	for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
		long size = syscall(SYS_lgetxattr, path, name, value, sizeof(value));

		sum += checksum(value, size > 0 ? (size_t)size : 0,
				checksum(name, strlen(name), 0));
	}
	if (n > 0)
		say(" %08x", sum);
}

static void say_tree(char *path, size_t length, size_t top, int depth)
{
	struct dirent **entries;
	struct stat st;
	char target[80];
	ssize_t n;

	if (lstat(path, &st)) {
		say("%s: %s\n", path + top, error_name(errno));
		return;
	}
	say("%.60s: %06o %u:%u %lu", length > top ? path + top : "/", st.st_mode, st.st_uid,
	    st.st_gid, (unsigned long)st.st_nlink);
	say(st.st_mtime < 1000000 ? " m%ld" : " mnow", (long)st.st_mtime);
	say_attributes(path);
	if (S_ISREG(st.st_mode)) {
		say(" %ld", (long)st.st_size);
		say_contents(path, st.st_size);
	} else if (S_ISLNK(st.st_mode)) {
		n = readlink(path, target, sizeof(target) - 1);
		say(" %zd %.*s", n, (int)(n > 0 ? n : 0), target);
	} else if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		say(" %lx", (unsigned long)st.st_rdev);
	}
	if (st.st_nlink > 1 && !S_ISDIR(st.st_mode))
		say(" #%d", inode_number(&st));
	say("\n");
	if (!S_ISDIR(st.st_mode) || depth > 12)
		return;
	n = scandir(path, &entries, NULL, alphasort);
	for (ssize_t i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (strcmp(name, ".") && strcmp(name, "..") && length + strlen(name) + 2 < 4000) {
			size_t more = (size_t)sprintf(path + length, "/%s", name);

			say_tree(path, length + more, top, depth + 1);
			path[length] = 0;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* ---- one sequence
 * --------------------------------------------------------------------------------- */

/* The mounts on @dir and below; how many there are. */
static int mounts_below(const char *dir, char *places[], int max)
{
	FILE *mounts = fopen("/proc/self/mounts", "r");
	char line[4200];
	int count = 0;

	while (mounts && fgets(line, sizeof(line), mounts) && count < max) {
		char *where = strchr(line, ' ');
		char *end = where ? strchr(where + 1, ' ') : NULL;

		if (!end)
			continue;
		*end = 0;
		if (!strncmp(where + 1, dir, strlen(dir)) && strchr("/", where[1 + strlen(dir)]))
			places[count++] = strdup(where + 1);
	}
	if (mounts)
		fclose(mounts);
	return count;
}

/* One may hide another, so that its path leads elsewhere: again, as long as some go. */
static void unmount_all(const char *dir)
{
	char *places[200];
	int count, gone;

	do {
		count = mounts_below(dir, places, 200);
		gone = 0;
		for (int i = count; i-- > 0; free(places[i]))
			gone += !umount2(places[i], MNT_DETACH);
	} while (gone);
	if (count)
		say("%d still mounted\n", count);
}

static void remove_tree(char *path, size_t length)
{
	struct dirent *entry;
	DIR *dir;

	if (!unlink(path) || errno == ENOENT)
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		remove_tree(path, length + (size_t)sprintf(path + length, "/%s", entry->d_name));
		path[length] = 0;
	}
	if (dir)
		closedir(dir);
	if (rmdir(path))
		say("left: %s\n", error_name(errno));
}

static void in_own_process(const struct sequence *sequence, const char *dir)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(60);
		if (chdir(dir) || chroot("."))
			_exit(99);
		operations_start();
		perform(sequence, 0, sequence->count);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		say("no process: %s\n", error_name(errno));
	else if (status)
		say("ended by %d\n", status);
}

static void drop_caches(void)
{
	int fd = open(drop_file, O_WRONLY);

	sync();
	if (fd < 0 || write(fd, "3", 1) != 1)
		say("%s: %s\n", drop_file, error_name(errno));
	close(fd);
}

static void run_sequence(const struct sequence *sequence, const char *top)
{
	static char path[8192];
	size_t length = (size_t)sprintf(path, "%s/%lu", top, sequence->name);
	char dir[300];

	strcpy(dir, path);

	trace->size = 0;
	trace->mounted = trace->filled = false;
	if (mkdir(dir, 0777) && errno == EROFS) { /* the one before has gone too far */
		say("read-only\n");
		mount(NULL, "/", NULL, MS_REMOUNT, NULL);
		mkdir(dir, 0777);
	}
	if (chmod(dir, 0777))
		say("%s: %s\n", dir, error_name(errno));
	in_own_process(sequence, dir);
	if (drop_every && sequence->name % (unsigned long)drop_every == 0)
		drop_caches();
	linked_count = 0;
	say_tree(path, length, length, 0);
	if (trace->mounted) {
		unmount_all(dir);
		say_tree(path, length, length, 0);
	}
	remove_tree(path, length);
	if (verbose)
		printf("sequence %lu\n%.*s", sequence->name, (int)trace->size, trace->text);
	printf("%lu %08x\n", sequence->name, checksum(trace->text, trace->size, 0));
	fflush(stdout);
}

/* ---- many
 * ------------------------------------------------------------------------------------------ */

static struct sequence sequence;

static void run_seeds(const char *dir, unsigned long first, unsigned long count,
		      unsigned long start, unsigned long stride)
{
	for (unsigned long i = start; i < count; i += stride) {
		generate(&sequence, first + i);
		run_sequence(&sequence, dir);
	}
}

static int run_file(const char *dir, const char *name)
{
	FILE *file = fopen(name, "r");
	bool pending = false;
	char line[400];

	if (!file) {
		perror(name);
		return 2;
	}
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "sequence ", 9)) {
			if (pending)
				run_sequence(&sequence, dir);
			pending = true;
			sequence.name = strtoul(line + 9, NULL, 0);
			sequence.count = 0;
		} else if (line[0] != '#' && line[0] != '\n') {
			if (sequence.count >= MAX_OPERATIONS ||
			    !parse_operation(&sequence.operations[sequence.count++], line)) {
				fprintf(stderr, "%s: not an operation: %s\n", name, line);
				return 2;
			}
		}
	}
	if (pending)
		run_sequence(&sequence, dir);
	fclose(file);
	return 0;
}

static void leave_out(char *names)
{
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
		for (int i = 0; i < kind_count; i++)
			if (!strcmp(kinds[i].name, name))
				absent[i] = true;
}

static void probe(const char *top)
{
	char dir[300];
	int n = 0;

	snprintf(dir, sizeof(dir), "%s/probe", top);
	if (mkdir(dir, 0755) || chdir(dir))
		perror(dir);
	printf("absent: ");
	for (int i = 0; i < kind_count; i++) {
		if (kinds[i].works && !kinds[i].works()) {
			printf("%s%s", n++ ? "," : "", kinds[i].name);
			absent[i] = true;
		}
	}
	printf("\n");
	fflush(stdout);
	if (chdir("/"))
		perror("/");
	remove_tree(dir, strlen(dir));
}

static void print_sequences(unsigned long first, unsigned long count)
{
	char text[300];

	for (unsigned long seed = first; seed < first + count; seed++) {
		generate(&sequence, seed);
		printf("sequence %lu\n", seed);
		for (int i = 0; i < sequence.count; i++) {
			print_operation(&sequence.operations[i], text, sizeof(text));
			puts(text);
		}
	}
}

static int run_workers(const char *top, int workers, unsigned long first, unsigned long count)
{
	int status, failed = 0;

	for (int i = 0; i < workers; i++) {
		if (fork())
			continue;
		trace = mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		mounted = &trace->mounted;
		filled = &trace->filled;
		run_seeds(top, first, count, (unsigned long)i, (unsigned long)workers);
		exit(0);
	}
	for (int i = 0; i < workers; i++)
		failed |= wait(&status) < 0 || status;
	return failed;
}

int main(int argc, char **argv)
{
	bool ask = false;
	int workers = 1, option;

	while ((option = getopt(argc, argv, "+px:j:vd:n:")) != -1) {
		if (option == 'p')
			ask = true;
		else if (option == 'x')
			leave_out(optarg);
		else if (option == 'j')
			workers = atoi(optarg);
		else if (option == 'v')
			verbose = true;
		else if (option == 'd')
			drop_file = optarg;
		else if (option == 'n')
			drop_every = atol(optarg);
		else
			return 2;
	}
	argv += optind;
	argc -= optind;
	trace = mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	mounted = &trace->mounted;
	filled = &trace->filled;
	if (!drop_file)
		drop_every = 0;
	if (ask && argc > 2)
		probe(argv[0]);
	if (argc == 3 && !strcmp(argv[0], "print"))
		return print_sequences(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0)), 0;
	if (argc == 3 && !strcmp(argv[1], "file"))
		return run_file(argv[0], argv[2]);
	if (argc == 4 && !strcmp(argv[1], "seeds"))
		return run_workers(argv[0], workers, strtoul(argv[2], NULL, 0),
				   strtoul(argv[3], NULL, 0));
	fprintf(stderr, "see the head of filefuzz.c\n");
	return 2;
}
