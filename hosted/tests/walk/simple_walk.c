/* simple_walk.c - see walk.h. */
#include <string.h>

#include "hosted/tests/walk/walk.h"

struct node *top, *root, *cwd;
static unsigned links; /* followed in this walk */

static struct node *topmost(struct node *node)
{
	while (node->mounted)
		node = node->mounted;
	return node;
}

static struct node *up(struct node *node)
{
	while (node != root && !node->parent && node->covered)
		node = node->covered;
	if (node != root && node->parent)
		node = node->parent;
	/* something may have been mounted over it since */
	return node == root ? node : topmost(node);
}

int allowed(const struct node *node, int mask)
{
	const struct cred *cred = current->cred;
	umode_t bits = node->mode;

	if (cred->euid == 0)
		return !(mask & MAY_EXEC) || S_ISDIR(node->mode) || (node->mode & 0111) ? 0
											: -EACCES;
	if (cred->euid == node->uid)
		bits >>= 6;
	else if (in_group(cred, node->gid))
		bits >>= 3;
	return mask & ~bits & 7 ? -EACCES : 0;
}

struct node *child_of(const struct node *dir, const char *name, size_t length)
{
	for (unsigned i = 0; i < dir->count; i++)
		if (strlen(dir->children[i]->name) == length &&
		    memcmp(dir->children[i]->name, name, length) == 0)
			return dir->children[i];
	return NULL;
}

static struct node *walk(struct node *at, const char *text, bool follow);

static struct node *enter(struct node *dir, const char *name, size_t length, bool follow)
{
	struct node *node;

	if (length == 1 && name[0] == '.')
		return dir;
	if (length == 2 && name[0] == '.' && name[1] == '.')
		return up(dir);
	if (length > 255)
		return ERR_PTR(-ENAMETOOLONG);
	node = child_of(dir, name, length);
	if (!node)
		return ERR_PTR(-ENOENT);
	if (!S_ISLNK(node->mode) || !follow)
		return topmost(node);
	if (links++ == 40)
		return ERR_PTR(-ELOOP);
	return walk(dir, node->target, true);
}

static struct node *walk(struct node *at, const char *text, bool follow)
{
	if (*text == '/')
		at = root;
	for (text += strspn(text, "/"); *text;) {
		size_t length = strcspn(text, "/"), slashes = strspn(text + length, "/");
		bool last = !text[length + slashes];
		int error = S_ISDIR(at->mode) ? allowed(at, MAY_EXEC) : -ENOTDIR;

		if (error)
			return ERR_PTR(error);
		at = enter(at, text, length, follow || slashes);
		if (IS_ERR(at))
			return at;
		if ((!last || slashes) && !S_ISDIR(at->mode))
			return ERR_PTR(-ENOTDIR);
		text += length + slashes;
	}
	return at;
}

struct node *resolve(const char *text, bool follow)
{
	links = 0;
	if (strlen(text) >= PATH_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	return *text ? walk(cwd, text, follow) : ERR_PTR(-ENOENT);
}

struct node *step(struct node *dir, const char *name, bool follow)
{
	links = 0;
	return enter(dir, name, strlen(name), follow);
}

const char *path_of(const struct node *node, const struct node *from, char *path)
{
	char *at = path + PATH_MAX - 1;

	*at = 0;
	while (node != from) {
		size_t length;

		if (!node->parent) {
			if (!node->covered)
				return NULL;
			node = node->covered;
			continue;
		}
		length = strlen(node->name);
		at -= length;
		memcpy(at, node->name, length);
		*--at = '/';
		node = node->parent;
	}
	return *at ? at : "/";
}
