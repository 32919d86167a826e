/* text.c - see text.h. */
#ifdef CONFIG_PATH_SIGNATURE_TEXT

#include "fs/path/lockless/lockless.h"
#include "fs/path/signature/linear.h"

static __always_inline void multiply_add_64(u64 *sum, const u64 *factor, u64 word)
{
	*sum += *factor * word;
}

void signature_below(struct signature *sum, const struct signature *directory, const char *text)
{
	u64 above = directory->length;

	go_on(sum, directory, text, multiply_add_64);
	sum->added = sum->length - above;
}

/* Bytes of @dentry's name, if the @length bytes at @text end with it, and its *@parent of the same
 * moment; or 0: they do not, or it is being changed. */
static __always_inline size_t ends_with_name(const struct dentry *dentry, const char *text,
					     size_t length, struct dentry **parent)
{
	u32 sequence = read_seqcount_begin(&dentry->sequence);
	const char *name = READ_ONCE(dentry->name);
	size_t size = READ_ONCE(dentry->name_length);

	*parent = READ_ONCE(dentry->parent);
	if (size > length || read_seqcount_retry(&dentry->sequence, sequence))
		return 0;
	text += length - size;
	for (size_t at = 0; at < size; at += 8) {
		u64 differing = load_word(text + at) ^ load_word(name + at);

		if (size - at < 8)
			differing <<= 8 * (8 - (size - at));
		if (differing)
			return 0;
	}
	return size;
}

/* From the root of a mount to the place that it is mounted on. false: there is none. */
static bool leave_mount(struct path *path)
{
	const struct mount *mount = path->mount;
	struct mount *parent = READ_ONCE(mount->parent);
	struct dentry *on = READ_ONCE(mount->mountpoint);

	if (parent == mount || !on) /* or it is just being taken off */
		return false;
	*path = (struct path){parent, on};
	return true;
}

bool text_leads_to(const struct lockless_walk *walk, const struct path *path, u32 mounts)
{
	const char *text = walk->left;
	size_t left = walk->direct.signature.added - 1; /* without the slash behind the last name */
	struct path place = *path;

	if (mounts != walk->mount_sequence)
		return false; /* its mount may be gone, and its memory */
	for (;;) {
		while (place.dentry == place.mount->root)
			if (!leave_mount(&place))
				return false;

		size_t size = ends_with_name(place.dentry, text, left, &place.dentry);

		if (!size)
			return false;
		left -= size;
		if (!left)
			break;
		if (text[--left] != '/')
			return false;
	}
	/* all this has been read before the entry is looked at again */
	return place.dentry == walk->path.dentry && place.mount == walk->path.mount &&
	       !read_seqcount_retry(&mount_sequence, walk->mount_sequence);
}

void signature_init(void)
{
	draw_keys();
}

#endif
