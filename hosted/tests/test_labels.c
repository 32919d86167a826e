/*
 * test_labels.c - security labels: what is one, what the rules say, and that a file's is kept: on
 * the disk, and by whoever makes one.
 */
#include <stdio.h>
#include <string.h>

#include "fs/inode/permission.h"
#include "fs/label/label.h"
#include "fs/xattr/xattr.h"
#include "hosted/harness/harness.h"
#include "core/log/text.h"
#include "core/memory/slab.h"
#include "core/syscalls.h"

#define USER 1000

static struct hosted_disk disk;

static void be_root(void)
{
	set_cred(get_cred(&init_cred));
}

/* Somebody who is not root, with that label. */
static void be(const char *label)
{
	struct cred *cred = prepare_cred();

	cred->uid = cred->euid = cred->suid = USER;
	cred->gid = cred->egid = cred->sgid = USER;
	cred->label = label_kept(label_get(label, strlen(label)));
	set_cred(cred);
}

static s64 set(const char *path, const char *label)
{
	return sys_lsetxattr(path, LABEL_ATTRIBUTE, label, strlen(label), 0);
}

static void check_label(const char *path, const char *label)
{
	struct inode *inode = inode_by_path(path);

	CHECK(!strcmp(label_name(inode->label), label));
	iput(inode);
}

/* What the attribute is, as programs see it. */
static void check_attribute(const char *path, const char *label)
{
	char value[LABEL_MAX + 1];
	s64 length = sys_lgetxattr(path, LABEL_ATTRIBUTE, value, sizeof(value));

	CHECK_EQUAL(length, strlen(label));
	CHECK(!memcmp(value, label, (size_t)length));
}

/* ---- names and rules ------------------------------------------------------------------------- */

TEST(label_names)
{
	static const char *const bad[] = {"",	 "-", "-a", "a b", "a/b",
					  "a\"", "'", "\\", "a\n", "\x7f"};
	static const char *const good[] = {"_", "*", "^", "a", "a-b", "~", "!", "System::Shared"};
	char name[LABEL_MAX + 1];

	hosted_init(4);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQUAL(PTR_ERR(label_get(bad[i], strlen(bad[i]))), -EINVAL);
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		const struct label *label = label_get(good[i], strlen(good[i]));

		CHECK(!IS_ERR(label) && !strcmp(label_name(label), good[i]));
		CHECK(label_get(good[i], strlen(good[i])) == label);
	}
	CHECK(label_kept(label_get("_", 1)) == NULL);
	CHECK(label_get("ab", 2) != label_get("a", 1));
	memset(name, 'x', sizeof(name));
	CHECK(!label_is_valid(name, LABEL_MAX + 1));
	CHECK(label_is_valid(name, LABEL_MAX));
}

/* What current may do to the file @path that all may by its mode, as rwx. */
static void check_access(const char *path, const char *access)
{
	struct inode *inode = inode_by_path(path);
	char may[4] = "---";

	for (int i = 0; i < 3; i++)
		if (!inode_permission(inode, 4 >> i))
			may[i] = "rwx"[i];
	CHECK_EQUAL(inode_permission(inode, MAY_READ | MAY_EXEC),
		    may[0] == 'r' && may[2] == 'x' ? 0 : -EACCES);
	CHECK(!strcmp(may, access));
	iput(inode);
}

static void make_all(const char *labels[], unsigned count)
{
	char path[16];

	for (unsigned i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		CHECK_EQUAL(write_at(path, O_CREAT | O_WRONLY, 0, "x", 1), 1);
		CHECK_EQUAL(chmod_path(path, 0777), 0);
		CHECK_EQUAL(set(path, labels[i]), 0);
	}
}

/* The table of label.h: who has the label of a row, to what has that of a column. */
TEST(label_decisions)
{
	static const char *labels[] = {"_", "*", "^", "a", "b", "c"};
	static const char *const table[][6] = {
		{"rwx", "rwx", "--x", "---", "rw-", "---"}, /* _ */
		{"rwx", "rwx", "rwx", "rwx", "rwx", "rwx"}, /* root, as which none is "*" */
		{"r-x", "rwx", "rwx", "r-x", "rwx", "r-x"}, /* ^ */
		{"rwx", "rwx", "---", "rwx", "--x", "r--"}, /* a */
		{"r-x", "rwx", "---", "---", "rwx", "---"}, /* b */
		{"r-x", "rwx", "---", "-w-", "---", "rwx"}, /* c */
	};
	char path[16];

	hosted_init(8);
	make_all(labels, ARRAY_SIZE(labels));
	CHECK_EQUAL(
		label_rules_write("_ ^ x\n_ b rw\n^ b rwx\na _ rwx\n a\tb x \n\na c r-\nc a w\n"),
		0);
	CHECK_EQUAL(label_rules_write("b a rwx\nb a -"), 0); /* the last counts */
	CHECK_EQUAL(label_rules_write("c _ -"), 0);	     /* takes nothing that a floor gives */
	for (unsigned subject = 0; subject < ARRAY_SIZE(labels); subject++) {
		if (subject == 1)
			be_root();
		else
			be(labels[subject]);
		for (unsigned object = 0; object < ARRAY_SIZE(labels); object++) {
			snprintf(path, sizeof(path), "/%u", object);
			check_access(path, table[subject][object]);
		}
		be_root();
	}
}

TEST(label_rules_text)
{
	static const char *const bad[] = {"a",	    "a b",     "a b q",	 "a b rwxt", "- b r",
					  "a -b r", "a b r w", "a/ b r", "a b r\na", " "};
	struct text text = {0};

	hosted_init(4);
	CHECK_EQUAL(label_rules_write(""), 0);
	CHECK_EQUAL(label_rules_write("\n\n"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQUAL(label_rules_write(bad[i]), -EINVAL);
	CHECK_EQUAL(label_rules_write("b a xwr\n_ a r\nb c w\nd e -\nb c -"), 0);
	label_rules_show(&text);
	text_write(&text, "", 1);
	CHECK(!strcmp(text.data, "_ a r\nb c -\nb a rwx\na b r\n"));
	kfree(text.data);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void check_errors(const char *path)
{
	CHECK_EQUAL(set(path, "a b"), -EINVAL);
	CHECK_EQUAL(set(path, ""), -EINVAL);
	CHECK_EQUAL(sys_lremovexattr(path, LABEL_ATTRIBUTE), -ENODATA);
	CHECK_EQUAL(sys_lsetxattr(path, LABEL_ATTRIBUTE, "a", 1, 2), -ENODATA); /* XATTR_REPLACE */
	check_label(path, "_");
	CHECK_EQUAL(set(path, "a"), 0);
	CHECK_EQUAL(sys_lsetxattr(path, LABEL_ATTRIBUTE, "b", 1, 1), -EEXIST); /* XATTR_CREATE */
	check_label(path, "a");
	be("a");
	CHECK_EQUAL(set(path, "b"), -EPERM);
	CHECK_EQUAL(sys_lremovexattr(path, LABEL_ATTRIBUTE), -EPERM);
	check_attribute(path, "a");
	be_root();
	check_label(path, "a");
	CHECK_EQUAL(sys_lremovexattr(path, LABEL_ATTRIBUTE), 0);
	check_label(path, "_");
}

/* On /mnt: what is set, and what is made with whose label. */
static void make_labelled(void)
{
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/open", 0777), 0);
	CHECK_EQUAL(chmod_path("/mnt/open", 0777), 0);
	check_errors("/mnt/file");
	check_errors("/mnt/open");
	CHECK_EQUAL(set("/mnt/file", "file"), 0);
	CHECK_EQUAL(set("/mnt/open", "*"), 0);
	be("maker");
	CHECK_EQUAL(write_at("/mnt/open/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/open/dir", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/open/dir/dir", 0755), 0);
	CHECK_EQUAL(sys_symlinkat("file", AT_FDCWD, "/mnt/open/link"), 0);
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, "/mnt/open/pipe", S_IFIFO | 0600, 0), 0);
	s64 fd = sys_openat(AT_FDCWD, "/mnt/open", 020000000 | O_DIRECTORY | O_RDWR, 0600);
	CHECK(fd >= 0); /* O_TMPFILE */
	char value[8];

	CHECK_EQUAL(sys_fgetxattr((int)fd, LABEL_ATTRIBUTE, value, sizeof(value)), 5);
	CHECK_EQUAL(sys_close((int)fd), 0);
	be("_");
	CHECK_EQUAL(write_at("/mnt/open/of_floor", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	be_root();
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/open/file", AT_FDCWD, "/mnt/linked", 0), 0);
}

static const char *const made[] = {"/mnt/open/file", "/mnt/open/dir",  "/mnt/open/dir/dir",
				   "/mnt/open/link", "/mnt/open/pipe", "/mnt/linked"};

static void check_labelled(void)
{
	check_label("/mnt/file", "file");
	check_label("/mnt/open", "*");
	for (unsigned i = 0; i < ARRAY_SIZE(made); i++)
		check_attribute(made[i], "maker");
	for (unsigned i = 0; i < ARRAY_SIZE(made); i++)
		if (i != 3) /* the link is followed, to one that has it as well */
			check_label(made[i], "maker");
	CHECK_EQUAL(sys_lgetxattr("/mnt/open/of_floor", LABEL_ATTRIBUTE, NULL, 0), -ENODATA);
	check_label("/mnt/open/of_floor", "_");
}

/* The attribute becomes @value without being looked at. */
static void set_unasked(const char *path, const char *value)
{
	struct inode *inode = inode_by_path(path);

	down_write(&inode->lock);
	CHECK_EQUAL(ext2_xattrs.set(inode, LABEL_ATTRIBUTE, value, strlen(value), 0), 0);
	mark_inode_dirty(inode);
	up_write(&inode->lock);
	iput(inode);
}

TEST(label_files_ext2)
{
	hosted_init(32);
	disk_create(&disk, "ram0", 0, MB(2));
	image_make(&disk, 1024, 2048, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	make_labelled();
	check_labelled();
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(umount_disk(), 0);
		image_check(&disk);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
		check_labelled();
	}
	while (shrink_dcache(~0ull >> 2) || shrink_icache(~0ull >> 2))
		;
	check_labelled();
	/* another system's: no label */
	set_unasked("/mnt/file", "no label");
	CHECK_EQUAL(umount_disk(), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	check_label("/mnt/file", "_");
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

TEST(label_files_tmpfs)
{
	hosted_init(32);
	CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", 0, NULL), 0);
	make_labelled();
	check_labelled();
	CHECK_EQUAL(umount_disk(), 0);
}

/* There is no room for the label: nothing is made. */
TEST(label_without_room)
{
	s64 error = 0;
	char path[32];
	unsigned i;

	hosted_init(32);
	disk_create(&disk, "ram0", 0, KB(256));
	image_make(&disk, 1024, 256, IMAGE_USUAL " -N 256");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(chmod_path("/mnt", 0777), 0);
	CHECK_EQUAL(set("/mnt", "*"), 0);
	be("maker");
	for (i = 0; !error; i++) {
		snprintf(path, sizeof(path), "/mnt/%u", i);
		error = sys_mknodat(AT_FDCWD, path, S_IFREG | 0600, 0);
	}
	CHECK_EQUAL(error, -ENOSPC);
	CHECK(i > 50);
	be_root();
	CHECK_EQUAL(sys_lgetxattr(path, LABEL_ATTRIBUTE, NULL, 0), -ENOENT);
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, path, S_IFREG | 0600, 0), 0); /* needs none */
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}
