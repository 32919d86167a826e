/*
 * repair.c - e2fsck on an image in memory.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

const char *judge_image_path;
u64 judge_checks;

static int run_e2fsck(const char *how)
{
	static const char *const environment[] = {"PATH=/sbin:/usr/sbin:/bin:/usr/bin", NULL};
	const char *arguments[] = {"e2fsck", how, judge_image_path, NULL};
	bool show = getenv("POWERCUT_SHOW") != NULL;
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	for (int fd = 1; fd <= 2; fd++)
		if (!show || fd == 2)
			posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
	judge_checks++;
	if (posix_spawnp(&pid, "/sbin/e2fsck", &actions, NULL, (char *const *)arguments,
			 (char *const *)environment) ||
	    waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		panic("e2fsck cannot be run");
	posix_spawn_file_actions_destroy(&actions);
	return WEXITSTATUS(status);
}

static void move_image(unsigned char *image, bool out)
{
	int fd = open(judge_image_path, out ? O_WRONLY | O_CREAT : O_RDONLY, 0600);

	if ((out ? write(fd, image, IMAGE_BYTES) : read(fd, image, IMAGE_BYTES)) !=
	    (ssize_t)IMAGE_BYTES)
		panic("%s cannot be used", judge_image_path);
	close(fd);
}

/* Images that were repaired already: the same one may have to be judged at several cuts. */
#define REPAIRED_MAX 48
static struct repaired {
	u64 hash;
	bool bad;
	unsigned char *image;
} repaired[REPAIRED_MAX];
static unsigned repaired_next;

bool repair(u64 hash, unsigned char *image)
{
	for (unsigned i = 0; i < REPAIRED_MAX; i++)
		if (repaired[i].image && repaired[i].hash == hash) {
			memcpy(image, repaired[i].image, IMAGE_BYTES);
			return !repaired[i].bad;
		}
	struct repaired *entry = &repaired[repaired_next++ % REPAIRED_MAX];

	move_image(image, true);
	int status = run_e2fsck("-fy");
	entry->bad = status > 1 || (status == 1 && run_e2fsck("-fn") != 0);
	move_image(image, false);
	entry->hash = hash;
	if (!entry->image)
		entry->image = malloc(IMAGE_BYTES);
	memcpy(entry->image, image, IMAGE_BYTES);
	return !entry->bad;
}
