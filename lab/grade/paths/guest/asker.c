/*
 * asker.c - does what a script says, and asks where paths lead: in the guest, and on Linux to see
 * what the model is worth (lab/grade/paths/script.py draws scripts).
 *
 *	asker SCRIPT [ROOT]	ROOT: a directory that is to be / first
 *
 * Lines of a script, done in turn; answers go to standard output:
 *
 *	user UID GID GROUP DIR	a worker: a process of that user, with one group more, in DIR
 *	change ...		by root: see change(). "changed ERROR" if it fails
 *	ask WORKER KIND PATH	"answer NUMBER"
 *	question KIND PATH	one more for those below
 *	storm FIRST LAST	all workers ask these, over and over, while changes are done
 *	pause			in a storm: nothing changes until each is asked some times more
 *	calm			... up to here; and what they have seen is told
 *	many COUNT FIRST LAST	one process asks these as COUNT users, one after the other
 *	room MEGABYTES		a process wants so much memory, and uses it: 0, or how it ended
 *
 * An answer is an error's number; or a file's size, which is above 4,095; of a directory or a link
 * ANSWER_OTHER and its mode, owner and group. Around each question are marks for the plugin that
 * counts (counts.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../user/region.h"

#define ANSWER_OTHER (1ull << 60)
#define MOST_WORKERS 8
#define MOST_QUESTIONS 64
#define MOST_STATES 512
#define MOST_ANSWERS 3
#define PAUSE_ROUNDS 4	 /* of all questions, before those that count in a pause, and of these */
#define NO_TAG	     4095 /* of a question outside of storms */

struct question {
	char kind;
	char path[1024];
};

static struct worker {
	int ask, answer; /* pipes */
} workers[MOST_WORKERS];
static int worker_count;
static bool storming;

/* What a worker has seen in a storm: lookups that began in a state and ended in it or in the next.
 */
struct seen {
	uint64_t answers[MOST_STATES][MOST_QUESTIONS][2][MOST_ANSWERS];
	uint32_t lookups;
	bool stopped;
};

static struct storm {
	/* A page of the tags' own: by where a question writes the plugin knows which it is. */
	_Alignas(4096) volatile char tags[NO_TAG + 1];
	uint32_t begun, done; /* changes: counted before each, and after */
	uint32_t first, last; /* questions */
	bool over;
	struct question questions[MOST_QUESTIONS];
	int question_count;
	struct seen seen[MOST_WORKERS];
} * storm;

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static uint64_t status_answer(int result, const struct stat *status)
{
	if (result)
		return (uint64_t)errno;
	if (S_ISREG(status->st_mode))
		return (uint64_t)status->st_size;
	return ANSWER_OTHER | (uint64_t)status->st_mode << 40 | (uint64_t)status->st_uid << 20 |
	       status->st_gid;
}

/* Each in one place, by which the plugin knows them. The write behind the mark tells it @tag. */
static __attribute__((noinline)) void begin(volatile char *tag)
{
	region_start();
	*tag = 1;
}

static __attribute__((noinline)) void end(void)
{
	region_stop();
}

/* Where what is asked in a pause begins to count, and where it counts no more. */
static __attribute__((noinline)) void turn_pause(void)
{
	region_done();
}

static uint64_t ask(char kind, const char *path, uint32_t tag)
{
	int flags = kind == 'w' ? O_WRONLY : O_RDONLY, file;
	struct stat status = {0};
	int result;

	begin(&storm->tags[tag]);
	switch (kind) {
	case 's':
		result = (int)syscall(SYS_stat, path, &status);
		break;
	case 'l':
		result = (int)syscall(SYS_lstat, path, &status);
		break;
	case 'c':
		result = (int)syscall(SYS_chdir, path);
		break;
	default:
		result = file = open(path, flags | O_NONBLOCK);
		break;
	}
	end();
	if (result < 0)
		return (uint64_t)errno;
	if (kind == 'c')
		return 0;
	if (kind == 'r' || kind == 'w') {
		result = fstat(file, &status);
		close(file);
	}
	return status_answer(result, &status);
}

/* ---- storms ---------------------------------------------------------------------------------- */

static void note(struct seen *seen, uint32_t state, uint32_t number, uint32_t further,
		 uint64_t answer)
{
	uint64_t *answers = seen->answers[state % MOST_STATES][number][further];

	for (int i = 0; i < MOST_ANSWERS; i++) {
		if (answers[i] == answer + 1)
			return;
		if (!answers[i]) {
			answers[i] = answer + 1;
			return;
		}
	}
}

static void ask_in_storm(int me)
{
	struct seen *seen = &storm->seen[me];
	uint32_t number = storm->first + (uint32_t)me;

	while (!__atomic_load_n(&storm->over, __ATOMIC_SEQ_CST)) {
		number = number >= storm->last ? storm->first : number + 1;
		uint32_t done = __atomic_load_n(&storm->done, __ATOMIC_SEQ_CST);
		uint64_t answer = ask(storm->questions[number].kind, storm->questions[number].path,
				      (uint32_t)me * MOST_QUESTIONS + number);
		uint32_t begun = __atomic_load_n(&storm->begun, __ATOMIC_SEQ_CST);

		if (begun - done <= 1)
			note(seen, done, number, begun - done, answer);
		__atomic_store_n(&seen->lookups, seen->lookups + 1, __ATOMIC_SEQ_CST);
	}
}

/* Of worker @me: what was answered to question @number in @state. */
static void tell(int me, uint32_t number, uint32_t state)
{
	for (uint32_t further = 0; further < 2; further++) {
		const uint64_t *answers = storm->seen[me].answers[state][number][further];

		for (int i = 0; i < MOST_ANSWERS && answers[i]; i++)
			printf("seen %d %u %u %u %llu\n", me, number, state, state + further,
			       (unsigned long long)answers[i] - 1);
	}
}

static void tell_seen(void)
{
	for (int me = 0; me < worker_count; me++)
		for (uint32_t state = 0; state < MOST_STATES; state++)
			for (uint32_t number = storm->first; number <= storm->last; number++)
				tell(me, number, state);
}

/* Each worker has asked so many questions more. */
static void let_them_ask(uint32_t count)
{
	for (int me = 0; me < worker_count; me++) {
		uint32_t before = __atomic_load_n(&storm->seen[me].lookups, __ATOMIC_SEQ_CST);

		while (__atomic_load_n(&storm->seen[me].lookups, __ATOMIC_SEQ_CST) - before < count)
			sched_yield();
	}
}

/* ---- workers --------------------------------------------------------------------------------- */

static void work(int me, int from, int to, char **words)
{
	gid_t group = (gid_t)atoi(words[3]);
	gid_t gid = (gid_t)atoi(words[2]);
	uid_t uid = (uid_t)atoi(words[1]);
	struct question question;

	if (strcmp(words[4], "-") && chdir(words[4]))
		die(words[4]);
	if (setgroups(group ? 1 : 0, &group) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		die("worker");
	storm->tags[NO_TAG] = 1; /* the page is there before anything is counted */
	while (read(from, &question, sizeof(question)) == sizeof(question)) {
		uint64_t answer = 0;

		if (question.kind == '!')
			ask_in_storm(me);
		else
			answer = ask(question.kind, question.path, NO_TAG);
		if (write(to, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static void make_worker(char **words)
{
	int asks[2], answers[2];

	if (worker_count == MOST_WORKERS || pipe(asks) || pipe(answers))
		die("worker");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(asks[1]);
		work(worker_count, asks[0], answers[1], words);
	}
	close(asks[0]);
	close(answers[1]);
	workers[worker_count++] = (struct worker){asks[1], answers[0]};
}

static void hand(int worker, const struct question *question)
{
	if (write(workers[worker].ask, question, sizeof(*question)) != sizeof(*question))
		die("write");
}

static uint64_t take(int worker)
{
	uint64_t answer;

	if (read(workers[worker].answer, &answer, sizeof(answer)) != sizeof(answer))
		die("read");
	return answer;
}

/* ---- the script ------------------------------------------------------------------------------ */

static int make_file(const char *path, mode_t mode, off_t size)
{
	int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (file < 0)
		return -1;
	int result = ftruncate(file, size) || fchmod(file, mode);
	close(file);
	return result;
}

static int change(char **words)
{
	const char *what = words[1], *path = words[2];

	if (!strcmp(what, "mkdir"))
		return mkdir(path, 0700) || chmod(path, (mode_t)strtol(words[3], NULL, 8));
	if (!strcmp(what, "file"))
		return make_file(path, (mode_t)strtol(words[3], NULL, 8), atol(words[4]));
	if (!strcmp(what, "link"))
		return symlink(words[3], path);
	if (!strcmp(what, "chmod"))
		return chmod(path, (mode_t)strtol(words[3], NULL, 8));
	if (!strcmp(what, "chown"))
		return lchown(path, (uid_t)atoi(words[3]), (gid_t)atoi(words[4]));
	if (!strcmp(what, "rename"))
		return rename(path, words[3]);
	if (!strcmp(what, "exchange"))
		return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, words[3], 2);
	if (!strcmp(what, "unlink"))
		return unlink(path);
	if (!strcmp(what, "rmdir"))
		return rmdir(path);
	if (!strcmp(what, "mount"))
		return mount("none", path, "tmpfs", 0, "mode=755");
	if (!strcmp(what, "umount"))
		return umount(path);
	errno = ENOSYS;
	return -1;
}

static void end_storm(void)
{
	let_them_ask(40);
	__atomic_store_n(&storm->over, true, __ATOMIC_SEQ_CST);
	for (int i = 0; i < worker_count; i++)
		take(i);
	tell_seen();
	storming = false;
}

static void begin_storm(char **words)
{
	static const struct question go = {.kind = '!'};

	storm->first = (uint32_t)atoi(words[1]);
	storm->last = (uint32_t)atoi(words[2]);
	for (int i = 0; i < worker_count; i++)
		hand(i, &go);
	storming = true;
	let_them_ask(40);
}

/* What everybody has asked for meanwhile a cache can know; then comes what counts. */
static void make_pause(void)
{
	uint32_t count = PAUSE_ROUNDS * (storm->last - storm->first + 1);

	let_them_ask(count);
	turn_pause();
	let_them_ask(count);
	turn_pause();
}

static void as_many(int count, int first, int last)
{
	uint64_t sum = 0;

	/* What is open stays in the dentry cache, however little memory there is. */
	for (int number = first; number <= last; number++)
		if (open(storm->questions[number].path, O_RDONLY) < 0)
			die("open");
	for (int i = 0; i < count; i++) {
		uid_t user = 10000 + (uid_t)i;

		if (setresuid((uid_t)-1, user, (uid_t)-1))
			die("user");
		for (int number = first; number <= last; number++)
			sum = sum * 31 +
			      ask(storm->questions[number].kind, storm->questions[number].path,
				  NO_TAG);
		if (setresuid((uid_t)-1, 0, (uid_t)-1))
			die("user");
	}
	printf("answer %llu\n", (unsigned long long)sum);
}

static void want_room(size_t bytes)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		char *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (room == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < bytes; i += 4096)
			room[i] = 1;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = 1;
	printf("answer %d\n", status);
}

static void ask_worker(char **words)
{
	struct question question = {.kind = words[2][0]};

	strcpy(question.path, words[3]);
	hand(atoi(words[1]), &question);
	printf("answer %llu\n", (unsigned long long)take(atoi(words[1])));
}

static void add_question(char **words)
{
	struct question *new = &storm->questions[storm->question_count++];

	if (storm->question_count == MOST_QUESTIONS)
		die("question");
	new->kind = words[1][0];
	strcpy(new->path, words[2]);
}

static void make_change(char **words)
{
	__atomic_add_fetch(&storm->begun, 1, __ATOMIC_SEQ_CST);
	int error = change(words) ? errno : 0;
	__atomic_add_fetch(&storm->done, 1, __ATOMIC_SEQ_CST);

	if (error)
		printf("changed %d\n", error);
	if (storming)
		let_them_ask(storm->done * 7 % 11); /* now and then it goes on at once */
}

static void act(char **words)
{
	const char *what = words[0];

	if (!strcmp(what, "user"))
		make_worker(words);
	else if (!strcmp(what, "question"))
		add_question(words);
	else if (!strcmp(what, "ask"))
		ask_worker(words);
	else if (!strcmp(what, "change"))
		make_change(words);
	else if (!strcmp(what, "storm"))
		begin_storm(words);
	else if (!strcmp(what, "pause"))
		make_pause();
	else if (!strcmp(what, "calm"))
		end_storm();
	else if (!strcmp(what, "many"))
		as_many(atoi(words[1]), atoi(words[2]), atoi(words[3]));
	else if (!strcmp(what, "room"))
		want_room((size_t)atoi(words[1]) << 20);
}

int main(int argc, char **argv)
{
	char line[2048], *words[7];
	FILE *script = argc > 1 ? fopen(argv[1], "re") : NULL;

	if (!script)
		die("asker SCRIPT");
	if (argc > 2 && (chroot(argv[2]) || chdir("/")))
		die(argv[2]);
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (storm == MAP_FAILED)
		die("mmap");
	umask(0);
	while (fgets(line, sizeof(line), script)) {
		int count = 0;

		for (char *word = strtok(line, " \n"); word && count < 6;
		     word = strtok(NULL, " \n"))
			words[count++] = word;
		words[count] = NULL;
		if (count)
			act(words);
		fflush(stdout);
	}
	printf("end\n");
	return 0;
}
