/*
 * label.h - security labels: an optional room that can deny what modes allow, in the manner of
 * Linux's security modules, whose answers Tsai 2015 (section 4.1) has the prefix cache memoize.
 *
 * What it is. Smack (Casey Schaufler, in Linux since 2.6.25), simplified. A process has a label, as
 * part of its credential, and so has an inode; a label is a word. Of a credential (the subject) and
 * an inode (the object) the decision is, in this order:
 *
 *	1. root may everything;
 *	2. all may everything to what is labelled "*"; and who has the object's own label may;
 *	3. all may read and execute (search) what is labelled "_", the floor; and so may who is
 *	   labelled "^" whatever there is;
 *	4. else as the rule for the two says, if there is one, and nothing if there is none.
 *
 * Modes are asked besides: both must allow. Asked is where permission is asked of a mode
 * (inode_permission()): when a directory is searched, listed or changed, and when a file is opened
 * or run. What is open stays open, and where one stands one stands.
 *
 * What Smack has besides, and this has not: labels of sockets, messages, signals and of other
 * processes that one looks at; those that a program's file gives it (SMACK64EXEC) or a directory
 * what is made in it (SMACK64TRANSMUTE); labels by mount options; the label "@", and the accesses
 * a, t, l and b. A symbolic link may be followed whatever its label. A file's attribute may be
 * asked for by all who may reach it, and is what was set: one that was never set is ENODATA, where
 * Smack would tell its default.
 *
 * Where labels are kept. An inode's is its attribute "security.label" (fs/xattr), read with the
 * inode and then in inode->label; what is no label there counts as none. What is made gets its
 * maker's, before it has a name. NULL is none: the floor, or "*" of a device, pipe or socket. So
 * has what keeps no attributes, as /proc. A credential's is cred->label; it is inherited, stays
 * through execve, and is changed by root (kernel/label).
 *
 * Who may go where is remembered (fs/path/direct), so whoever changes a label or a rule makes that
 * void first: of a directory's label, as chmod does, all below it; of a rule that takes something
 * away, all there is. Who changes his own label gets another credential, with another prefix cache.
 *
 * Locks. Who asks takes none and does not sleep: labels and rules are never freed, and a rule's
 * access is a byte. labels_lock, for who makes one; it sleeps, and is inside inode->lock.
 */
#pragma once

#ifdef CONFIG_SECURITY_LABELS

#include "fs/inode/inode.h" /* which reads this at its end */

/* What inode.h has for kernels without labels: here it is the call. */
#undef if_labels
#define if_labels(call) (call)

#define LABEL_ATTRIBUTE "security.label"
#define LABEL_MAX 255 /* bytes of a label */

struct label;
struct text;

/* Is @name, of @length bytes, a label? 1 to LABEL_MAX printable characters but space, / " ' and \,
 * and no - in front: as in Smack. */
bool label_is_valid(const char *name, size_t length);
/* The label of that name, which is made if it is new, or ERR_PTR: -EINVAL, it is none; -ENOMEM.
 * Sleeps. */
struct label *label_get(const char *name, size_t length);
const char *label_name(const struct label *label); /* NULL: the floor's */

/* May current do @mask (MAY_*, permission.h) to @inode, as far as labels say? 0 or -EACCES. Does
 * not sleep; within a reader's section, or with a reference to @inode. */
int label_ask(const struct inode *inode, const struct label *object, int mask);
static __always_inline int label_permission(const struct inode *inode, int mask)
{
	const struct label *object = smp_load_acquire(&inode->label);

	/* the floor is for all to read and to search */
	return likely(!object) && !(mask & 2) ? 0 : label_ask(inode, object, mask);
}

/* Do labels keep current from searching the directory @inode? As label_permission(). */
static __always_inline bool label_bars(const struct inode *inode)
{
	return label_permission(inode, 1) != 0;
}

/* @inode, which nobody else knows yet, has been read in: its label with it. 0, -EIO, -ENOMEM.
 * Takes inode->lock. */
int label_read(struct inode *inode);
/* @inode is new, and has no name: it gets current's label, which its file system keeps from now on.
 * 0; or -ENOSPC, -ENOMEM ..., and @inode is let go of. Takes inode->lock. */
int label_made(struct inode *inode);
/* setxattr(2) and removexattr(2) (@value NULL) of LABEL_ATTRIBUTE, by who may; inode->lock is held
 * for writing. 0, -EINVAL: it is no label; what the file system says. Sleeps. */
int label_change(const struct path *path, const void *value, size_t size, int flags);

/* rules.c: lines "SUBJECT OBJECT ACCESS", the access being of r, w, x and -; a rule that is there
 * changes. 0; -EINVAL: a line is none, those before it count; -ENOMEM. Sleeps. */
int label_rules_write(const char *text);
void label_rules_show(struct text *out);

/* label.c's and rules.c's own. Unchanged once it is found, but for the rules and their access. */
struct label {
	struct label *next;	  /* of all but the first three */
	struct label_rule *rules; /* it is the subject of; the newest first */
	char name[];
};
/* Never freed: whoever finds it may go on from it. */
struct label_rule {
	struct label_rule *next;
	const struct label *object;
	u8 access; /* MAY_*: under labels_lock, read without it */
};
/* The rule for the two, or NULL. Takes nothing, does not sleep. */
struct label_rule *label_rule(const struct label *subject, const struct label *object);
extern struct label label_floor, label_hat, label_star;
/* As it is kept in inode->label and cred->label. */
static inline const struct label *label_kept(const struct label *label)
{
	return label == &label_floor ? NULL : label;
}
extern struct mutex labels_lock;
extern struct label *labels; /* all but these three, the newest first */
#ifdef HOSTED
void labels_forget(void); /* all: nothing has one any more, nothing runs */
#endif

#endif
