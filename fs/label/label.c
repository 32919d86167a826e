/* label.c - labels: names, what they allow, what an inode has on the disk. See label.h. */
#include "fs/cred.h"
#include "fs/inode/permission.h"
#include "fs/label/label.h"
#include "fs/xattr/xattr.h"
#include "core/memory/slab.h"

struct label label_floor = {.name = "_"}, label_hat = {.name = "^"}, label_star = {.name = "*"};
struct label *labels;
DEFINE_MUTEX(labels_lock);

static_assert(MAY_EXEC == 1 && MAY_WRITE == 2, "label.h has them as numbers");

/* ---- names ----------------------------------------------------------------------------------- */

bool label_is_valid(const char *name, size_t length)
{
	if (!length || length > LABEL_MAX || *name == '-')
		return false;
	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~' || strchr("/\"'\\", name[i]))
			return false;
	return true;
}

static bool is_named(const struct label *label, const char *name, size_t length)
{
	return !strncmp(label->name, name, length) && !label->name[length];
}

/* The label of that name, or NULL. */
static struct label *find(const char *name, size_t length)
{
	struct label *const first[] = {&label_floor, &label_hat, &label_star};
	struct label *label;

	lockdep_assert_held(&labels_lock);
	for (unsigned i = 0; i < ARRAY_SIZE(first); i++)
		if (is_named(first[i], name, length))
			return first[i];
	for (label = labels; label && !is_named(label, name, length); label = label->next)
		;
	return label;
}

struct label *label_get(const char *name, size_t length)
{
	if (!label_is_valid(name, length))
		return ERR_PTR(-EINVAL);
	guard(mutex, &labels_lock);
	struct label *label = find(name, length);

	if (label)
		return label;
	label = kzalloc(sizeof(*label) + length + 1, GFP_KERNEL);
	if (!label)
		return ERR_PTR(-ENOMEM);
	memcpy(label->name, name, length);
	label->next = labels;
	labels = label;
	return label;
}

const char *label_name(const struct label *label)
{
	return label ? label->name : label_floor.name;
}

/* ---- the decision ---------------------------------------------------------------------------- */

struct label_rule *label_rule(const struct label *subject, const struct label *object)
{
	struct label_rule *rule = smp_load_acquire(&subject->rules);

	while (rule && rule->object != object)
		rule = rule->next;
	return rule;
}

/* Or a directory or a link: no device, pipe or socket. Not permission.c's is_special(): that file
 * asks this one. */
static bool is_file(umode_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

int label_ask(const struct inode *inode, const struct label *object, int mask)
{
	const struct cred *cred = current->cred;
	const struct label *subject = cred->label ?: &label_floor;

	if (!object)
		object = is_file(READ_ONCE(inode->mode)) ? &label_floor : &label_star;
	if (capable(cred) || object == &label_star || object == subject)
		return 0;
	if (!(mask & MAY_WRITE) && (object == &label_floor || subject == &label_hat))
		return 0;
	const struct label_rule *rule = label_rule(subject, object);

	return rule && !(mask & ~READ_ONCE(rule->access)) ? 0 : -EACCES;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

int label_read(struct inode *inode)
{
	const struct xattr_operations *op = inode->sb->type->xattrs;
	struct xattr *list __free(kfree) = NULL; /* of one, at most */

	if (!op)
		return 0;
	guard(child, inode);
	TRY(op->load(inode, LABEL_ATTRIBUTE, &list));
	const char *name = list ? (const char *)list->value : "";
	size_t length = list ? list->size : 0;
	if (!label_is_valid(name, length))
		return 0;
	const struct label *label = TRY_PTR(label_get(name, length));
	smp_store_release(&inode->label, label_kept(label));
	return 0;
}
