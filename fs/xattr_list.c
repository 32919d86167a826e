/* xattr_list.c - extended attributes in a list in memory. See xattr_list.h. */
#include "fs/xattr_list.h"

s64 xattr_list_get(const struct xattr *list, const char *name, void *value, size_t size)
{
	while (list && strcmp(list->name, name))
		list = list->next;
	if (!list)
		return -ENODATA;
	if (size && list->size > size)
		return -ERANGE;
	if (size)
		memcpy(value, list->value, list->size);
	return (s64)list->size;
}

int xattr_list_set(struct xattr **list, const char *name, const void *value, size_t size, int flags)
{
	size_t length = strlen(name) + 1;
	struct xattr **at = list, *old, *new;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	old = *at;
	if (old && (flags & XATTR_CREATE))
		return -EEXIST;
	if (!old && (!value || (flags & XATTR_REPLACE)))
		return -ENODATA;
	if (value) {
		new = kmalloc(sizeof(*new) + size + length, GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		new->size = size;
		new->name = memcpy(new->value + size, name, length);
		memcpy(new->value, value, size);
		at = old ? at : list;
		new->next = old ? old->next : *at;
		*at = new;
	} else {
		*at = old->next;
	}
	kfree(old);
	return 0;
}

s64 xattr_list_names(const struct xattr *list, char *names, size_t size)
{
	size_t total = 0, length;

	for (; list; list = list->next) {
		if (!xattr_listed(list->name) || !strncmp(list->name, "system.", 7))
			continue; /* access lists of other systems: kept, not known */
		length = strlen(list->name) + 1;
		if (total + length <= size)
			memcpy(names + total, list->name, length);
		total += length;
	}
	return size && total > size ? -ERANGE : (s64)total;
}

void xattr_list_free(struct xattr **list)
{
	struct xattr *xattr;

	while ((xattr = *list) != NULL) {
		*list = xattr->next;
		kfree(xattr);
	}
}
