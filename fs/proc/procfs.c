/*
 * procfs.c - /proc: inodes, lookup and reading of directories for what system.c and process.c can
 * show.
 *
 * An inode's number tells what it is: pid << 32 | fd << 12 | index, where index counts the nodes of
 * the tree it stands in (0 is the directory of a process itself) and fd is one more than the
 * descriptor under /proc/PID/fd. Nothing is remembered here: a name is looked up afresh once what
 * it stood for is gone (revalidate), and a name that was not there is asked for each time.
 */
#include "fs/proc/process_info.h"
#include "fs/proc/proc.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "mm/slab.h"

#define PID_SHIFT 32
#define FD_SHIFT 12
/* about the middle of the fixed tree's indices; a process's begin at 1 */
#define INDEX_FIXED (1u << 20)
#define ROOT_INO 1
#define WRITE_MAX 4096

static const struct inode_operations fixed_dir_operations, root_dir_operations,
	process_dir_operations, fd_dir_operations, file_inode_operations, text_link_operations,
	place_link_operations, fd_link_operations;
static const struct file_operations dir_file_operations, root_file_operations, fd_file_operations,
	proc_file_operations;

static pid_t pid_of(const struct inode *inode)
{
	return (pid_t)(inode->number >> PID_SHIFT);
}

static int fd_of(const struct inode *inode)
{
	return (int)((u32)inode->number >> FD_SHIFT) - 1;
}

static const struct proc_node *node_of(const struct inode *inode)
{
	return inode->private;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static struct inode *proc_inode(struct super_block *sb, ino_t number, umode_t mode,
				const struct proc_node *node)
{
	struct inode *inode = new_inode(sb);
	uid_t uid = 0;
	gid_t gid = 0;

	if (!inode)
		return NULL;
	inode->number = number;
	inode->mode = mode;
	if (number >> PID_SHIFT)
		process_exists((pid_t)(number >> PID_SHIFT), &uid, &gid);
	inode->uid = uid;
	inode->gid = gid;
	inode->private = (void *)node;
	inode->op = &file_inode_operations;
	inode->fop = &proc_file_operations;
	if (S_ISDIR(mode)) {
		inode->nlink = 2;
		inode->fop = &dir_file_operations;
		inode->op = number >> PID_SHIFT ? &process_dir_operations : &fixed_dir_operations;
	}
	return inode;
}

/* In a process's tree: which node it is. In the fixed tree: where it lies, since its arrays lie
 * together. */
static u32 node_index(const struct proc_node *node, pid_t pid)
{
	if (pid)
		return (u32)(node - proc_process_nodes) + 1;
	return INDEX_FIXED + (u32)((uintptr_t)node - (uintptr_t)proc_root_nodes);
}

static struct inode *node_inode(struct super_block *sb, const struct proc_node *node, pid_t pid)
{
	struct inode *inode =
		proc_inode(sb, (u64)pid << PID_SHIFT | node_index(node, pid), node->mode, node);

	if (!inode)
		return NULL;
	if (node->link)
		inode->op = &text_link_operations;
	else if (node->jump)
		inode->op = &place_link_operations;
	else if (pid && S_ISDIR(node->mode)) { /* there is one: fd */
		inode->op = &fd_dir_operations;
		inode->fop = &fd_file_operations;
	}
	return inode;
}

/* ---- looking up ------------------------------------------------------------------------------ */

static const struct proc_node *find_node(const struct proc_node *nodes, const char *name)
{
	for (; nodes->name; nodes++)
		if (!strcmp(nodes->name, name))
			return nodes;
	return NULL;
}

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

static int add_inode(struct dentry *dentry, struct inode *inode)
{
	if (!inode)
		return -ENOMEM;
	d_add(dentry, inode);
	return 0;
}

static int lookup_node(struct inode *dir, struct dentry *dentry, const struct proc_node *nodes)
{
	const struct proc_node *node = find_node(nodes, dentry->name);

	if (node)
		return add_inode(dentry, node_inode(dir->sb, node, pid_of(dir)));
	d_add(dentry, NULL);
	return 0;
}

static int fixed_lookup(struct inode *dir, struct dentry *dentry)
{
	return lookup_node(dir, dentry, node_of(dir)->children);
}

static int process_lookup(struct inode *dir, struct dentry *dentry)
{
	return lookup_node(dir, dentry, proc_process_nodes);
}

static int root_lookup(struct inode *dir, struct dentry *dentry)
{
	int pid = name_to_number(dentry);
	uid_t uid;
	gid_t gid;

	if (pid > 0 && process_exists(pid, &uid, &gid))
		return add_inode(dentry,
				 proc_inode(dir->sb, (u64)pid << PID_SHIFT, S_IFDIR | 0555, NULL));
	return lookup_node(dir, dentry, proc_root_nodes);
}

static int fd_lookup(struct inode *dir, struct dentry *dentry)
{
	int fd = name_to_number(dentry);
	struct inode *inode;
	struct path path;

	if (fd < 0 || proc_fd_jump(pid_of(dir), fd, &path)) {
		d_add(dentry, NULL);
		return 0;
	}
	path_put(&path);
	inode = proc_inode(dir->sb, (u64)pid_of(dir) << PID_SHIFT | (u64)(fd + 1) << FD_SHIFT,
			   S_IFLNK | 0700, NULL);
	if (inode)
		inode->op = &fd_link_operations;
	return add_inode(dentry, inode);
}

/* Names directly under /proc: a process may have come or gone. Its owner may have changed. */
static bool root_revalidate(struct dentry *dentry)
{
	struct inode *inode = dentry->inode;

	if (!inode)
		return false;
	return !pid_of(inode) || process_exists(pid_of(inode), &inode->uid, &inode->gid);
}

static bool process_revalidate(struct dentry *dentry)
{
	return dentry->inode &&
	       process_exists(pid_of(dentry->inode), &dentry->inode->uid, &dentry->inode->gid);
}

static bool fd_revalidate(struct dentry *dentry)
{
	return false; /* descriptors change all the time */
}

/* ---- links ----------------------------------------------------------------------------------- */

#define LINK_SIZE 4096

static const char *text_get_link(struct inode *inode, void **cookie)
{
	char *text = kzalloc(128, GFP_KERNEL);
	int length;

	if (!text)
		return ERR_PTR(-ENOMEM);
	length = node_of(inode)->link(pid_of(inode), text, 128 - 8);
	if (length < 0) {
		kfree(text);
		return ERR_PTR(length);
	}
	*cookie = text;
	return text;
}

static void put_link(struct inode *inode, void *cookie)
{
	kfree(cookie);
}

static int link_place(struct inode *inode, struct path *path)
{
	int error = process_may_inspect(pid_of(inode));

	if (error)
		return error;
	if (node_of(inode))
		return node_of(inode)->jump(pid_of(inode), path);
	return proc_fd_jump(pid_of(inode), fd_of(inode), path);
}

/* readlink of a link to a place: the place's path. */
static const char *place_get_link(struct inode *inode, void **cookie)
{
	struct fs_context *fs = current->fs;
	struct path path, root;
	char *buffer, *text;
	int error = link_place(inode, &path);

	if (error)
		return ERR_PTR(error);
	buffer = kmalloc(LINK_SIZE + 8, GFP_KERNEL);
	if (!buffer) {
		path_put(&path);
		return ERR_PTR(-ENOMEM);
	}
	spin_lock(&fs->lock);
	root = fs->root;
	path_get(&root);
	spin_unlock(&fs->lock);
	text = d_path(&path, &root, buffer, LINK_SIZE);
	path_put(&root);
	path_put(&path);
	if (IS_ERR(text))
		kfree(buffer);
	else
		*cookie = buffer;
	return text;
}

/* ---- reading directories --------------------------------------------------------------------- */

/* Positions: 0, 1 dots; 2 .. the nodes; then @base onward what the caller adds. 1: all were
 * emitted. */
static int iterate_nodes(struct file *file, struct dir_context *context,
			 const struct proc_node *nodes)
{
	pid_t pid = pid_of(file->inode);

	if (!dir_emit_dots(file, context))
		return 0;
	for (loff_t i = 0; nodes[i].name; i++) {
		if (i + 2 < context->position)
			continue;
		if (!context->emit(context, nodes[i].name, (unsigned)strlen(nodes[i].name),
				   (u64)pid << PID_SHIFT | node_index(&nodes[i], pid),
				   S_DT(nodes[i].mode)))
			return 0;
		context->position = i + 3;
	}
	return 1;
}

static int dir_iterate(struct file *file, struct dir_context *context)
{
	struct inode *inode = file->inode;

	iterate_nodes(file, context, pid_of(inode) ? proc_process_nodes : node_of(inode)->children);
	return 0;
}

#define ROOT_PIDS 256 /* position of pid 0 in /proc */

static int root_iterate(struct file *file, struct dir_context *context)
{
	char name[16];
	pid_t pid;

	if (context->position < ROOT_PIDS && !iterate_nodes(file, context, proc_root_nodes))
		return 0;
	if (context->position < ROOT_PIDS)
		context->position = ROOT_PIDS;
	while ((pid = process_next((pid_t)(context->position - ROOT_PIDS))) > 0) {
		int length = snprintf(name, sizeof(name), "%d", pid);

		context->position = ROOT_PIDS + pid;
		if (!context->emit(context, name, (unsigned)length, (u64)pid << PID_SHIFT, DT_DIR))
			break;
		context->position++;
	}
	return 0;
}

static int fd_iterate(struct file *file, struct dir_context *context)
{
	pid_t pid = pid_of(file->inode);
	struct file_table *table;
	char name[16];
	int fd, error = process_may_inspect(pid);

	if (error)
		return error;
	if (!dir_emit_dots(file, context))
		return 0;
	table = process_files(pid);
	if (!table)
		return 0;
	while ((fd = file_table_next(table, (int)context->position - 2)) >= 0) {
		int length = snprintf(name, sizeof(name), "%d", fd);

		context->position = fd + 2;
		if (!context->emit(context, name, (unsigned)length,
				   (u64)pid << PID_SHIFT | (u64)(fd + 1) << FD_SHIFT, DT_LNK))
			break;
		context->position++;
	}
	file_table_put(table);
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct proc_file {
	struct mutex lock; /* pread of several threads; outside mm->lock */
	struct text text;
};

static int fill_text(struct file *file, struct text *text)
{
	const struct proc_node *node = node_of(file->inode);
	int error;

	text_reset(text);
	error = node->show ? node->show(text, pid_of(file->inode)) : 0;
	return error ? error : text_error(text);
}

static int proc_file_open(struct inode *inode, struct file *file)
{
	struct proc_file *proc_file = kzalloc(sizeof(*proc_file), GFP_KERNEL);

	if (!proc_file)
		return -ENOMEM;
	mutex_init(&proc_file->lock, "proc_file->lock");
	text_init(&proc_file->text);
	file->private = proc_file;
	return 0;
}

static void proc_file_release(struct file *file)
{
	struct proc_file *proc_file = file->private;

	text_free(&proc_file->text);
	kfree(proc_file);
}

static ssize_t read_text(struct file *file, struct text *text, struct io *io, loff_t *position)
{
	size_t n, wanted;
	int error;

	if (*position == 0 || !text->data) {
		error = fill_text(file, text);
		if (error)
			return error;
	}
	if ((u64)*position >= text->length)
		return 0;
	wanted = min(io->length, text->length - (size_t)*position);
	n = io_put(io, text->data + *position, wanted);
	*position += (loff_t)n;
	return n || !wanted ? (ssize_t)n : -EFAULT;
}

static ssize_t proc_file_read(struct file *file, struct io *io, loff_t *position)
{
	struct proc_file *proc_file = file->private;
	ssize_t result;

	mutex_lock(&proc_file->lock);
	result = read_text(file, &proc_file->text, io, position);
	mutex_unlock(&proc_file->lock);
	return result;
}

static ssize_t proc_file_write(struct file *file, struct io *io, loff_t *position)
{
	const struct proc_node *node = node_of(file->inode);
	size_t length = io->length;
	char *text;
	int error;

	if (!node->write)
		return -EINVAL;
	if (length > WRITE_MAX)
		return -EINVAL;
	text = kmalloc(length + 1, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	error = io_get(io, text, length) == length ? 0 : -EFAULT;
	text[length] = '\0';
	if (!error)
		error = node->write(text, length);
	kfree(text);
	*position += (loff_t)length;
	return error ? error : (ssize_t)length;
}

static int no_setattr(struct inode *inode, const struct iattr *attr)
{
	return attr->valid & (ATTR_MODE | ATTR_UID | ATTR_GID)
		       ? -EPERM
		       : 0; /* "> /proc/file" truncates nothing */
}

static const struct inode_operations root_dir_operations = {
	.lookup = root_lookup, .revalidate = root_revalidate, .setattr = no_setattr};
static const struct inode_operations fixed_dir_operations = {.lookup = fixed_lookup,
							     .setattr = no_setattr};
static const struct inode_operations process_dir_operations = {
	.lookup = process_lookup, .revalidate = process_revalidate, .setattr = no_setattr};
static const struct inode_operations fd_dir_operations = {
	.lookup = fd_lookup, .revalidate = fd_revalidate, .setattr = no_setattr};
static const struct inode_operations file_inode_operations = {.setattr = no_setattr};
static const struct inode_operations text_link_operations = {
	.get_link = text_get_link, .put_link = put_link, .setattr = no_setattr};
static const struct inode_operations place_link_operations = {.get_link = place_get_link,
							      .put_link = put_link,
							      .jump_link = link_place,
							      .setattr = no_setattr};
static const struct inode_operations fd_link_operations = {.get_link = place_get_link,
							   .put_link = put_link,
							   .jump_link = link_place,
							   .setattr = no_setattr};

static const struct file_operations root_file_operations = {.llseek = generic_file_llseek,
							    .iterate = root_iterate};
static const struct file_operations dir_file_operations = {.llseek = generic_file_llseek,
							   .iterate = dir_iterate};
static const struct file_operations fd_file_operations = {.llseek = generic_file_llseek,
							  .iterate = fd_iterate};
static const struct file_operations proc_file_operations = {
	.open = proc_file_open,
	.release = proc_file_release,
	.read = proc_file_read,
	.write = proc_file_write,
	.llseek = generic_file_llseek,
};

/* ---- the superblock -------------------------------------------------------------------------- */

static int proc_statfs(struct super_block *sb, struct kstatfs *stat)
{
	stat->type = PROC_SUPER_MAGIC;
	return 0;
}

static const struct super_operations super_operations = {.statfs = proc_statfs};

static int proc_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct inode *root;

	sb->op = &super_operations;
	sb->flags |= SB_REVALIDATE | SB_NOATIME;
	root = proc_inode(sb, ROOT_INO, S_IFDIR | 0555, NULL);
	if (!root)
		return -ENOMEM;
	root->op = &root_dir_operations;
	root->fop = &root_file_operations;
	sb->root = d_alloc_root(root);
	if (sb->root)
		return 0;
	iput(root);
	return -ENOMEM;
}

static struct filesystem proc = {.name = "proc", .fill_super = proc_fill_super, .single = true};

void procfs_init(void)
{
	register_filesystem(&proc);
}
