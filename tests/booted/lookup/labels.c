/*
 * labels.c - asks, as several users with several labels, what they may do, while modes, labels and
 * rules change. Usage: labels COMMANDS USERS, each a file; prints a line for each "ask".
 *
 * Each line of USERS is "UID LABEL": a process, which stays, so that what it may reach is
 * remembered. COMMANDS:
 *
 *	mkdir PATH MODE UID, file PATH MODE UID, chmod PATH MODE, mv PATH PATH
 *	label PATH LABEL, unlabel PATH, rule SUBJECT OBJECT ACCESS, drop (caches)
 *	cd PATH (all users; what it came to is printed)
 *	ask OPERATION PATH: all users, at once and several times; one errno of each is printed, or
 *	"changing" if it was not the same each time. stat, read, write, list, make, access
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define USERS 16
#define TIMES 12 /* until a credential has a prefix cache, and what was looked for is in it */
#define NAME "security.label"

struct request {
	char operation[16], path[128];
};

static struct user {
	int requests[2], answers[2];
} users[USERS];
static int user_count;

static void must(int done, const char *what)
{
	if (!done) {
		printf("%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

/* ---- users ----------------------------------------------------------------------------------- */

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags, 0600), error = fd < 0 ? errno : 0;

	close(fd);
	return error;
}

static int try(const struct request *request, int self)
{
	const char *operation = request->operation, *path = request->path;
	struct stat stat_buffer;
	char name[160];

	if (!strcmp(operation, "stat"))
		return stat(path, &stat_buffer) ? errno : 0;
	if (!strcmp(operation, "read"))
		return try_open(path, O_RDONLY);
	if (!strcmp(operation, "write"))
		return try_open(path, O_WRONLY);
	if (!strcmp(operation, "list"))
		return try_open(path, O_RDONLY | O_DIRECTORY);
	if (!strcmp(operation, "access"))
		return access(path, X_OK) ? errno : 0;
	if (!strcmp(operation, "cd"))
		return chdir(path) ? errno : 0;
	snprintf(name, sizeof(name), "%s/made-by-%d", path, self);
	int error = try_open(name, O_WRONLY | O_CREAT | O_EXCL);

	unlink(name);
	return error;
}

static void serve(int self, unsigned uid, const char *label)
{
	struct user *user = &users[self];
	struct request request;

	write_file("/proc/self/attr/current", label);
	must(!setgroups(0, NULL) && !setresgid(uid, uid, uid) && !setresuid(uid, uid, uid), "ids");
	while (read(user->requests[0], &request, sizeof(request)) == sizeof(request)) {
		int first = try(&request, self);

		for (int i = 1; i < TIMES; i++)
			if (try(&request, self) != first)
				first = -1;
		must(write(user->answers[1], &first, sizeof(first)) == sizeof(first), "answer");
	}
	exit(0);
}

static void make_users(FILE *file)
{
	char label[32];
	unsigned uid;

	for (; fscanf(file, "%u %31s", &uid, label) == 2; user_count++) {
		struct user *user = &users[user_count];

		must(!pipe(user->requests) && !pipe(user->answers), "pipe");
		fflush(stdout);
		pid_t pid = fork();
		must(pid >= 0, "fork");
		if (!pid) {
			for (int i = 0; i <= user_count; i++)
				close(users[i].requests[1]);
			serve(user_count, uid, label);
		}
	}
}

static void ask_all(const char *operation, const char *path)
{
	struct request request = {0};
	int error;

	strcpy(request.operation, operation);
	strcpy(request.path, path);
	for (int i = 0; i < user_count; i++)
		must(write(users[i].requests[1], &request, sizeof(request)) == sizeof(request),
		     "ask");
	for (int i = 0; i < user_count; i++) {
		must(read(users[i].answers[0], &error, sizeof(error)) == sizeof(error), "read");
		if (i)
			printf(" ");
		printf(error < 0 ? "changing" : "%d", error);
	}
	printf("\n");
}

/* ---- commands -------------------------------------------------------------------------------- */

static void make(const char *command, const char *path, const char *mode, const char *uid)
{
	if (!strcmp(command, "mkdir"))
		must(!mkdir(path, 0700), path);
	else
		close(open(path, O_CREAT | O_WRONLY, 0600));
	must(!chown(path, (uid_t)atoi(uid), (gid_t)atoi(uid)), path);
	must(!chmod(path, (mode_t)strtol(mode, NULL, 8)), path);
}

static void command(const char *name, char *const words[3])
{
	char line[128];

	if (!strcmp(name, "mkdir") || !strcmp(name, "file"))
		make(name, words[0], words[1], words[2]);
	else if (!strcmp(name, "chmod"))
		must(!chmod(words[0], (mode_t)strtol(words[1], NULL, 8)), words[0]);
	else if (!strcmp(name, "mv"))
		must(!rename(words[0], words[1]), words[0]);
	else if (!strcmp(name, "label"))
		must(!setxattr(words[0], NAME, words[1], strlen(words[1]), 0), words[0]);
	else if (!strcmp(name, "unlabel"))
		must(!removexattr(words[0], NAME), words[0]);
	else if (!strcmp(name, "drop"))
		write_file("/proc/sys/vm/drop_caches", "3");
	else if (!strcmp(name, "cd"))
		ask_all(name, words[0]);
	else if (!strcmp(name, "ask"))
		ask_all(words[0], words[1]);
	else if (snprintf(line, sizeof(line), "%s %s %s\n", words[0], words[1], words[2]) > 0)
		write_file("/proc/labels", line);
}

int main(int argc, char **argv)
{
	FILE *commands = fopen(argv[1], "r"), *list = fopen(argv[argc - 1], "r");
	char line[256], name[16], first[128], second[128], third[128];
	char *const words[] = {first, second, third};

	must(commands && list, "the files");
	umask(0);
	make_users(list);
	while (fgets(line, sizeof(line), commands))
		if (sscanf(line, "%15s %127s %127s %127s", name, first, second, third) >= 1)
			command(name, words);
	for (int i = 0; i < user_count; i++)
		close(users[i].requests[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
