/*
 * user_path.c - paths as programs give them: the text copied, then walked. See namei.h.
 */
#include "fs/path/namei.h"

int path_name_get(struct path_name *name, const char __user *from)
{
	name->allocated = NULL;
	name->text = name->small;
	s64 small = TRY(strncpy_from_user(name->small, from, NAME_SMALL));
	if (likely(small < NAME_SMALL))
		return 0;
	/* It does not fit the caller's frame: PATH_MAX and slack. */
	name->text = name->allocated = TRY_PTR(kmalloc(2 * PAGE_SIZE, GFP_KERNEL));
	s64 length = TRY(strncpy_from_user(name->allocated, from, PATH_MAX));
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int user_path_at(int dfd, const char __user *from, unsigned flags, struct path *path)
{
	if (flags & (LOOKUP_FD | LOOKUP_FD_PATH))
		return descriptor_path(dfd, flags, path);
	struct path_name name __free(name);
	TRY(path_name_get(&name, from));
	return path_lookup(dfd, name.text, flags, NULL, NULL, path);
}

int kern_path(const char *name, unsigned flags, struct path *path)
{
	return path_lookup(AT_FDCWD, name, flags, NULL, NULL, path);
}
