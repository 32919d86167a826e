/* names.c - hosted: random operations on names and what they lead to; see operations.h. */
#include <stdio.h>
#include <string.h>

#include "fs/file/file.h"
#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/operations.h"

static const char *new_name(void)
{
	char *name = run.names[run.next_name++ % 4];
	unsigned length = pick(5) ? 1 : 100 + (unsigned)pick(156);

	memset(name, (int)('a' + pick(12)), length);
	name[length] = 0;
	return name;
}

const char *some_name(const struct model_node *dir, bool wanted)
{
	if (dir->name_count && pick(8) < (wanted ? 7 : 2))
		return dir->names[pick(dir->name_count)].text;
	return new_name();
}

struct model_node *some_dir(void)
{
	struct model_node *dir =
		pick(3) ? run.model.root : model_random(&run.model, &run.rng, S_IFDIR);
	char path[PATH_MAX];

	return strlen(model_path(&run.model, dir, NULL, path)) < 1500 ? dir : run.model.root;
}

void random_create(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);
	struct file *file = open_path(PATH(dir, name), O_CREAT | O_EXCL | O_RDWR, 0640);

	EXPECT(PTR_ERR_OR_ZERO(file), model_make(&run.model, dir, name, S_IFREG | 0640, NULL));
	if (!IS_ERR(file))
		fput(file);
}

void random_mkdir(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);

	EXPECT(sys_mkdirat(AT_FDCWD, PATH(dir, name), 0750),
	       model_make(&run.model, dir, name, S_IFDIR | 0750, NULL));
}

void random_mknod(void)
{
	static const umode_t kinds[] = {S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK};
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);
	umode_t mode = kinds[pick(4)] | 0600;

	EXPECT(sys_mknodat(AT_FDCWD, PATH(dir, name), mode, MKDEV(pick(300), pick(256))),
	       model_make(&run.model, dir, name, mode, NULL));
}

void random_symlink(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, false);
	char target[1024];
	size_t length = pick(2) ? 1 + pick(70) : 1 + pick(1000);

	memset(target, 't', length);
	target[length] = 0;
	EXPECT(sys_symlinkat(target, AT_FDCWD, PATH(dir, name)),
	       model_make(&run.model, dir, name, S_IFLNK | 0777, target));
}

void random_link(void)
{
	struct model_node *from = some_dir(), *dir = some_dir(), *node;
	const char *old = some_name(from, true), *name = some_name(dir, false);

	node = model_find(from, old);
	EXPECT(sys_linkat(AT_FDCWD, PATH(from, old), AT_FDCWD, PATH(dir, name), 0),
	       node ? model_link(&run.model, node, dir, name) : -ENOENT);
}

void random_unlink(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, true);

	EXPECT(sys_unlinkat(AT_FDCWD, PATH(dir, name), 0), model_unlink(&run.model, dir, name));
}

void random_rmdir(void)
{
	struct model_node *dir = some_dir();
	const char *name = some_name(dir, true);

	EXPECT(sys_unlinkat(AT_FDCWD, PATH(dir, name), AT_REMOVEDIR),
	       model_rmdir(&run.model, dir, name));
}

static unsigned some_flags(void)
{
	if (pick(4))
		return 0;
	return pick(2) ? RENAME_NOREPLACE : RENAME_EXCHANGE;
}

void random_rename(void)
{
	struct model_node *from = some_dir(), *to = some_dir();
	unsigned flags = some_flags();
	char old[256], new[256];

	strcpy(old, some_name(from, true));
	strcpy(new, some_name(to, pick(2)));
	EXPECT(sys_renameat2(AT_FDCWD, PATH(from, old), AT_FDCWD, PATH(to, new), flags),
	       model_rename(&run.model, from, old, to, new, flags));
}

void random_chmod(void)
{
	struct model_node *dir = some_dir(), *node;
	const char *name = some_name(dir, true);
	umode_t mode = (umode_t)pick(010000);

	node = model_find(dir, name);
	if (node && S_ISLNK(node->mode))
		return;
	EXPECT(chmod_path(PATH(dir, name), mode), node ? 0 : -ENOENT);
	if (node)
		node->mode = (node->mode & S_IFMT) | mode;
}
