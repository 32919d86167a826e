/*
 * procfs.c - /proc: inodes, lookup and reading of directories and files for the nodes that were
 * registered, by system.c and by kernel/proc/info/info.c. See proc.h.
 *
 * An inode stands for an entry and is made of it: pid << 40 | (number + 1) << 24 | where the node
 * lies. Nothing is remembered here: what belongs to a process, and a name that was not there, is
 * looked up each time.
 */
#include "fs/cred.h"
#include "fs/file/file.h"
#include "fs/proc/proc.h"
#include "core/memory/slab.h"

#define PID_SHIFT 40
#define NUMBER_SHIFT 24
#define WRITE_MAX 4096
#define NUMBERS 256 /* position of number 0 in a directory */

static const struct inode_operations dir_inode_operations, link_operations, place_operations;
static const struct file_operations dir_file_operations, file_operations;

#define ROOT_NODES 32 /* in /proc itself, the end included */

/* Constant once /proc has been mounted. */
static struct proc_node root_nodes[ROOT_NODES];
static struct proc_node root_node = {.mode = PROC_DIR, .children = root_nodes};
const struct proc_processes *proc_processes;

void proc_append(struct proc_node *list, unsigned room, const struct proc_node *nodes)
{
	struct proc_node *end = list;

	while (end->name)
		end++;
	for (; nodes->name; nodes++) {
		BUG_ON(end == &list[room - 1]);
		*end++ = *nodes;
	}
}

void proc_register(const struct proc_node *nodes)
{
	proc_append(root_nodes, ROOT_NODES, nodes);
}

void proc_register_processes(const struct proc_processes *registered)
{
	proc_processes = registered;
	root_node.next = registered->next;
	root_node.each = registered->node;
}

/* ---- entries and inodes ---------------------------------------------------------------------- */

static ino_t entry_ino(const struct proc_entry *entry)
{
	u64 place = ((uintptr_t)entry->node - (uintptr_t)&root_node) / sizeof(void *) + 1;

	return (u64)entry->pid << PID_SHIFT | (u64)(entry->number + 1) << NUMBER_SHIFT |
	       (place & ((1u << NUMBER_SHIFT) - 1));
}

static struct proc_entry entry_of(const struct inode *inode)
{
	return (struct proc_entry){.node = inode->private,
				   .pid = (pid_t)(inode->number >> PID_SHIFT),
				   .number = (int)(inode->number >> NUMBER_SHIFT & 0xffff) - 1};
}

/* The entry that @number, or @node if it is no number, makes of its directory's. */
static struct proc_entry child_entry(struct proc_entry dir, const struct proc_node *node,
				     int number)
{
	if (node != dir.node->each)
		dir.number = -1;
	else if (S_ISDIR(node->mode))
		dir.pid = number;
	else
		dir.number = number;
	dir.node = node;
	return dir;
}

static struct inode *proc_inode(struct super_block *sb, const struct proc_entry *entry)
{
	const struct proc_node *node = entry->node;
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode->number = entry_ino(entry);
	inode->mode = node->mode;
	inode->uid = 0;
	inode->gid = 0;
	if (entry->pid)
		proc_processes->owner(entry->pid, &inode->uid, &inode->gid);
	inode->private = (void *)node;
	inode->fop = &file_operations;
	if (S_ISDIR(node->mode)) {
		inode->nlink = 2;
		inode->op = &dir_inode_operations;
		inode->fop = &dir_file_operations;
	} else if (S_ISLNK(node->mode)) {
		inode->op = node->jump ? &place_operations : &link_operations;
	}
	return inode;
}

/* ---- directories ----------------------------------------------------------------------------- */

/* A name that is a number without leading zeros, or -1. */
static int name_to_number(const struct dentry *dentry)
{
	int value = 0;

	if (dentry->name_length > 9 || (dentry->name[0] == '0' && dentry->name_length > 1))
		return -1;
	for (unsigned i = 0; i < dentry->name_length; i++) {
		if (!isdigit_ascii(dentry->name[i]))
			return -1;
		value = value * 10 + dentry->name[i] - '0';
	}
	return value;
}

static int proc_lookup(struct inode *dir, struct dentry *dentry)
{
	struct proc_entry entry = entry_of(dir);
	const struct proc_node *node = entry.node->children;
	int number = entry.node->next ? name_to_number(dentry) : -1;

	while (node && node->name && strcmp(node->name, dentry->name))
		node++;
	if (number >= 0)
		node = entry.node->next(entry.pid, number) == number ? entry.node->each : NULL;
	else if (node && !node->name)
		node = NULL;
	if (!node) /* also to who would make it */
		return no_such_name(dentry, number < 0 && !entry.pid);
	entry = child_entry(entry, node, number);
	struct inode *inode = TRY_PTR(proc_inode(dir->sb, &entry));
	if (!entry.pid) {
		d_add(dentry, inode);
	} else { /* a process may come or go, or change its owner; descriptors come and go */
		dentry->flags |= D_UNCACHED;
		d_instantiate(dentry, inode);
	}
	return 0;
}

/* Positions: 0, 1 dots; 2 .. the nodes; then the numbers. */
static int proc_iterate(struct file *file, struct dir_context *context)
{
	struct proc_entry dir = entry_of(file->inode), entry;
	const struct proc_node *nodes = dir.node->children;
	char name[16];
	int number;

	if (!dir_emit_dots(file, context))
		return 0;
	for (loff_t i = 0; nodes && nodes[i].name; i++) {
		entry = child_entry(dir, &nodes[i], -1);
		if (i + 2 < context->position)
			continue;
		if (!context->emit(context, nodes[i].name, (unsigned)strlen(nodes[i].name),
				   entry_ino(&entry), S_DT(nodes[i].mode)))
			return 0;
		context->position = i + 3;
	}
	if (!dir.node->next || context->position > (loff_t)(~0u >> 1))
		return 0;
	context->position = max(context->position, (loff_t)NUMBERS);
	while ((number = dir.node->next(dir.pid, (int)(context->position - NUMBERS))) >= 0) {
		int length = snprintf(name, sizeof(name), "%d", number);

		entry = child_entry(dir, dir.node->each, number);
		context->position = NUMBERS + number;
		if (!context->emit(context, name, (unsigned)length, entry_ino(&entry),
				   S_DT(entry.node->mode)))
			return 0;
		context->position++;
	}
	return number == -ENOENT ? 0 : number;
}

/* ---- links ----------------------------------------------------------------------------------- */

void proc_show_path(struct text *out, const struct path *path, const char *special)
{
	char *buffer __free(kfree) = kmalloc(PAGE_SIZE, GFP_KERNEL);
	struct path root __free(path) = {0};

	context_path(&root, current->fs, &current->fs->root);
	char *text = buffer ? d_path(path, &root, buffer, PAGE_SIZE) : ERR_PTR(-ENOMEM);
	if (!IS_ERR(text) && *text == '(') /* that it is unreachable Linux tells getcwd(2) alone */
		text += sizeof(UNREACHABLE) - 1;
	if (IS_ERR(text))
		out->error = (int)PTR_ERR(text);
	else
		text_escaped(out, text, special);
}

static int proc_jump(struct inode *inode, struct path *path)
{
	struct proc_entry entry = entry_of(inode);

	return entry.node->jump(&entry, path);
}

/* A place's text is its path, unless it has another. */
static char *proc_get_link(struct inode *inode)
{
	struct proc_entry entry = entry_of(inode);
	struct path path __free(path) = {0};
	struct text text = {0};

	if (entry.node->show)
		entry.node->show(&text, &entry);
	else if (!(text.error = proc_jump(inode, &path)))
		proc_show_path(&text, &path, "");
	text_write(&text, "\0\0\0\0\0\0\0\0", 9); /* the end, and 8 bytes more */
	if (text.error) {
		kfree(text.data);
		return ERR_PTR(text.error);
	}
	return text.data;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Of an open file. Its lock is held while the text is made and copied to the program, which may
 * fault and wait: that is only for who reads the same open file. Outside mm->lock. The text is kept
 * between reads, so that they are parts of one; but when all that are kept have a sixteenth of
 * memory it is made anew for each read, and may have changed meanwhile. */
struct open_text {
	struct mutex lock;
	const struct cred *cred; /* who opened it: what he may not see nobody reads for him */
	struct text text;
};

static atomic64_t kept; /* bytes of all texts */

static void drop_text(struct text *text)
{
	atomic_sub((s64)text->capacity, &kept);
	kfree(text->data);
	*text = (struct text){0};
}

static int proc_open(struct inode *inode, struct file *file)
{
	struct open_text *open = TRY_PTR(kzalloc(sizeof(*open), GFP_KERNEL));

	mutex_init(&open->lock, "proc text");
	open->cred = get_cred(current->cred);
	file->private = open;
	return 0;
}

static void proc_release(struct file *file)
{
	struct open_text *open = file->private;

	drop_text(&open->text);
	put_cred(open->cred);
	kfree(open);
}

static ssize_t proc_read(struct file *file, struct io *io, loff_t *position)
{
	struct proc_entry entry = entry_of(file->inode);
	struct open_text *open = file->private;
	struct text *text = &open->text;

	guard(mutex, &open->lock);
	if (entry.node->show && (*position == 0 || !text->data)) {
		drop_text(text);
		const struct cred *own = swap_cred(get_cred(open->cred));
		entry.node->show(text, &entry);
		put_cred(swap_cred(own));
		atomic_add((s64)text->capacity, &kept);
		TRY(text->error);
	}
	if ((u64)*position >= text->length || !io->length)
		return 0;
	size_t n = io_put(io, text->data + *position,
			  min(io->length, text->length - (size_t)*position));
	*position += (loff_t)n;
	if ((u64)atomic_read(&kept) > page_alloc_total_pages() * PAGE_SIZE / 16)
		drop_text(text);
	return n ? (ssize_t)n : -EFAULT;
}

static ssize_t proc_write(struct file *file, struct io *io, loff_t *position)
{
	struct proc_entry entry = entry_of(file->inode);
	size_t length = io->length;

	if (!entry.node->write || length > WRITE_MAX)
		return -EINVAL;
	char *text __free(kfree) = TRY_PTR(kzalloc(length + 1, GFP_KERNEL));
	if (io_get(io, text, length) != length)
		return -EFAULT;
	TRY(entry.node->write(&entry, text, length));
	*position += (loff_t)length;
	return (ssize_t)length;
}

static const struct inode_operations dir_inode_operations = {.lookup = proc_lookup};
static const struct inode_operations link_operations = {.get_link = proc_get_link};
static const struct inode_operations place_operations = {
	.get_link = proc_get_link,
	.jump_link = proc_jump,
};
static const struct file_operations dir_file_operations = {
	.seekable = true,
	.iterate = proc_iterate,
};
static const struct file_operations file_operations = {
	.open = proc_open,
	.release = proc_release,
	.read = proc_read,
	.write = proc_write,
	.seekable = true,
};

/* ---- the superblock -------------------------------------------------------------------------- */

static const struct super_operations super_operations;

static int proc_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct proc_entry entry = {.node = &root_node, .number = -1};

	sb->op = &super_operations;
	sb->flags |= SB_NOATIME | SB_FIXED_OWNERS;
	sb->root = d_alloc_root(proc_inode(sb, &entry));
	return sb->root ? 0 : -ENOMEM;
}

struct filesystem proc_filesystem = {
	.name = "proc",
	.magic = PROC_SUPER_MAGIC,
	.fill_super = proc_fill_super,
	.single = true,
};
