/*
 * paths.c - users × what is done to a directory × ways through it, looked at so often that a kernel
 * that remembers whole paths, and who may go there, does so before the change and after it.
 *
 * A user is one process all the while, since what he may reach is remembered of his credential; the
 * changes are made by another, which is root.
 */
#include "matrix.h"

#define OFTEN 12 /* more than a credential has to ask before anything is remembered of it */

static const char *const changed[] = {"way", "way/open", "way/open/hall"};

/* From where the tree is, and from way/open, which is held open. */
static const char *const texts[] = {"way/open/hall/file",	  "./way//open/hall/file",
				    "way/open/../open/hall/file", "way/open/turn/../beside",
				    "short-cut/hall/file",	  "way/open/hall/absent",
				    "way/open/hall/file/under"};
static const char *const texts_below[] = {"hall/file", "turn/../beside", "hall/../hall/file"};

/* ---- changes --------------------------------------------------------------------------------- */

struct change {
	const char *name;
	void (*make)(const char *directory, mode_t mode, uid_t uid, gid_t gid);
	mode_t mode; /* of all but set(): 0 takes back what 1 has done */
	uid_t uid;
	gid_t gid;
};

static void set(const char *directory, mode_t mode, uid_t uid, gid_t gid)
{
	if (chown(directory, uid, gid) || chmod(directory, mode))
		perror(directory);
}

static void move(const char *directory, mode_t mode, uid_t uid, gid_t gid)
{
	(void)uid, (void)gid;
	if (mode ? rename(directory, "else/moved") : rename("else/moved", directory))
		perror(directory);
}

static void mount_over(const char *directory, mode_t mode, uid_t uid, gid_t gid)
{
	(void)uid, (void)gid;
	if (mode ? mount("none", directory, "tmpfs", 0, "mode=755")
		 : umount2(directory, MNT_DETACH))
		perror(directory);
}

static void turn(const char *directory, mode_t mode, uid_t uid, gid_t gid)
{
	(void)directory, (void)uid, (void)gid;
	if (unlink("way/open/turn") || symlink(mode ? "hall" : "../../else/deep", "way/open/turn"))
		perror("turn");
}

static const struct change changes[] = {
	{"made", set, 0755, 0, 0},	    {"root's", set, 0700, 0, 0},
	{"all's", set, 0755, 0, 0},	    {"group's", set, 0750, 0, 2000},
	{"owner's", set, 0700, 1000, 1000}, {"others'", set, 0701, 1000, 2000},
	{"all's-again", set, 0711, 0, 0},   {"not-searched", set, 0644, 0, 0},
	{"searched", set, 0755, 0, 0},	    {"moved", move, 1, 0, 0},
	{"moved-back", move, 0, 0, 0},	    {"mounted-over", mount_over, 1, 0, 0},
	{"uncovered", mount_over, 0, 0, 0}, {"turned", turn, 1, 0, 0},
	{"turned-back", turn, 0, 0, 0},
};

/* ---- what is there --------------------------------------------------------------------------- */

static void make_tree(void)
{
	static const char *const directories[] = {"way", "way/open", "way/open/hall", "else",
						  "else/deep"};

	for (size_t i = 0; i < COUNT(directories); i++)
		if (mkdir(directories[i], 0755))
			perror(directories[i]);
	make_file("way/open/hall/file", 0, 0, 0644);
	make_file("else/beside", 0, 0, 0644);
	if (symlink("../../else/deep", "way/open/turn") || symlink("way/open", "short-cut"))
		perror("symlink");
}

static void remove_tree(void)
{
	static const char *const names[] = {"way/open/hall/file", "else/beside", "way/open/turn",
					    "short-cut"};
	static const char *const directories[] = {"way/open/hall", "way/open", "way", "else/deep",
						  "else"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (unlink(names[i]))
			perror(names[i]);
	for (size_t i = 0; i < COUNT(directories); i++)
		if (rmdir(directories[i]))
			perror(directories[i]);
}

/* ---- who looks ------------------------------------------------------------------------------- */

/* The first outcome, and another, if it does not stay the same. */
static void look(int from, const char *text)
{
	struct stat st;
	const char *first = NULL, *then;

	for (int i = 0; i < OFTEN; i++) {
		then = fstatat(from, text, &st, 0) ? error_name(errno) : "ok";
		if (!first)
			first = then;
		if (strcmp(first, then)) {
			cell(" %s/%s", first, then);
			return;
		}
	}
	cell(" %s", first);
}

/* Makes the changes that are asked for by their number, as root, until nobody asks any more. */
static void make_changes(int asked, int made, const char *directory)
{
	unsigned char number;

	while (read(asked, &number, 1) == 1) {
		const struct change *change = &changes[number];

		change->make(directory, change->mode, change->uid, change->gid);
		if (write(made, &number, 1) != 1)
			perror("write");
	}
	_exit(0);
}

static void look_through(const struct user *user, const char *directory, int ask, int made)
{
	int below = open("way/open", O_PATH | O_DIRECTORY);

	AS(user)
	for (unsigned char i = 0; i < COUNT(changes); i++) {
		unsigned char done;

		if (write(ask, &i, 1) != 1 || read(made, &done, 1) != 1)
			perror("change");
		row->size = 0;
		for (size_t j = 0; j < COUNT(texts); j++)
			look(AT_FDCWD, texts[j]);
		for (size_t j = 0; j < COUNT(texts_below); j++)
			look(below, texts_below[j]);
		printf("path %s %s %s:%s\n", directory, changes[i].name, user->name, row->text);
	}
	close(below);
}

static void path_rows(const struct user *user, const char *directory)
{
	int ask[2], made[2];
	pid_t pid;

	if (pipe(ask) || pipe(made))
		perror("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ask[1]);
		make_changes(ask[0], made[1], directory);
	}
	close(ask[0]);
	look_through(user, directory, ask[1], made[0]);
	close(ask[1]);
	waitpid(pid, NULL, 0);
	close(made[0]);
	close(made[1]);
}

void paths(void)
{
	printf("path columns:");
	for (size_t i = 0; i < COUNT(texts); i++)
		printf(" %s", texts[i]);
	for (size_t i = 0; i < COUNT(texts_below); i++)
		printf(" below:%s", texts_below[i]);
	printf("\n");
	make_tree();
	for (size_t i = 0; i < COUNT(changed); i++)
		for (size_t j = 0; j < COUNT(users); j++)
			path_rows(&users[j], changed[i]);
	remove_tree();
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Who had one list of groups and has another, as long, may do what that says. */
void group_lists(void)
{
	static const gid_t groups[] = {2000, 2001};

	mkdir("members", 0755);
	make_file("members/file", 0, 0, 0644);
	set("members", 0710, 0, 2000);
	for (size_t i = 0; i < COUNT(groups); i++)
		for (size_t j = 0; j < COUNT(groups); j++) {
			const struct user user = {"other", 1003, 1003, groups[j]};
			gid_t found = 0;

			row->size = 0;
			if (setgroups(1, &groups[i]))
				perror("setgroups");
			AS(&user)
			{
				look(AT_FDCWD, "members/file");
				if (getgroups(1, &found) != 1)
					perror("getgroups");
				printf("groups %u-then-%u all:%s %u\n", groups[i], groups[j],
				       row->text, found);
			}
		}
	if (setgroups(0, NULL))
		perror("setgroups");
	unlink("members/file");
	rmdir("members");
}
