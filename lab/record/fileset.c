/*
 * fileset.c - the operations of the inode or the dentry cache that a file server's set of files
 * makes: first the set is read in, then a share of it is used at random. After Santos 2004, who
 * tells of SPECsfs: 20 million files, 10 % of them accessed, 27 % of the operations lookups.
 *
 * They are made a piece at a time, as the replay takes them (operation.h), and follow from the
 * seed. docs/lab/file-sets.md says what is modelled and what is assumed.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/record/operation.h"

#include "core/random.h"

#define DIRECT_MAP 0xffff888000000000ull
#define FRAME 4096ull
#define CHUNK_FRAMES 1024 /* the page allocator's largest piece: frames of it follow each other */
#define CHUNKS 8192	  /* of 4 MB: 32 GB */
#define DENTRY_BYTES 192
#define SUPERBLOCK_BYTES 1024
#define NAME_BYTES 16 /* "file" and eight digits */
#define NAME_LENGTH 12
#define GROUP_INODES 16384 /* a group of 32,768 blocks, an inode for each 8 KB: mke2fs 1.35 */
#define FIRST_INODE 11	   /* as many are reserved in the first group */
#define TOP_FOLDERS 100	   /* folders in a folder of the root */
#define ABSENT_PERCENT 10  /* lookups of names that are not there */

enum { FIND, INSERT, REMOVE }; /* enum hash_operation's; hash/cache.h wants a chosen function */
enum { INODE = 2, DENTRY = 3 };

struct group {
	u32 inodes, folders; /* in use */
};

struct fileset {
	u64 files, systems, each, folder_files, operations;
	u64 made, done;		    /* files read in; operations begun */
	u64 created, removed;	    /* new files */
	u64 most_created, state;    /* of the random numbers */
	u64 *superblocks, *parents; /* addresses; parents of folders' dentries */
	u32 *numbers, *used, used_count;
	u32 *folder_groups;
	struct group *groups; /* of all file systems, one's after the other's */
	u64 system_groups, system_folders;
	u16 chunks[CHUNKS];
	u64 dentries; /* addresses given */
	char *names;  /* of each object */
};

static u64 below(struct fileset *set, u64 limit)
{
	return (u64)(((unsigned __int128)splitmix64(&set->state) * limit) >> 64);
}

/* ---- where things are ------------------------------------------------------------------------ */

static u64 next_dentry(struct fileset *set)
{
	u64 each = FRAME / DENTRY_BYTES, frame = set->dentries / each,
	    place = set->dentries % each * DENTRY_BYTES;

	set->dentries++;
	return DIRECT_MAP + set->chunks[frame / CHUNK_FRAMES % CHUNKS] * CHUNK_FRAMES * FRAME +
	       frame % CHUNK_FRAMES * FRAME + place;
}

static void place_superblocks(struct fileset *set, bool apart)
{
	u64 frames = (u64)CHUNKS * CHUNK_FRAMES, first = below(set, frames - set->systems);

	for (u64 i = 0; i < set->systems; i++) {
		u64 place = i * SUPERBLOCK_BYTES;

		if (apart)
			place = below(set, frames) * FRAME + below(set, 4) * SUPERBLOCK_BYTES;
		else
			place += first * FRAME;
		set->superblocks[i] = DIRECT_MAP + place;
	}
}

static void shuffle_chunks(struct fileset *set)
{
	for (u32 i = 0; i < CHUNKS; i++)
		set->chunks[i] = (u16)i;
	for (u32 i = CHUNKS - 1; i; i--) {
		u32 j = (u32)below(set, i + 1);
		u16 swap = set->chunks[i];

		set->chunks[i] = set->chunks[j];
		set->chunks[j] = swap;
	}
}

/* ---- ext2's numbers -------------------------------------------------------------------------- */

static struct group *groups_of(struct fileset *set, u64 system)
{
	return &set->groups[system * set->system_groups];
}

/* An inode of @group, or of the first that has one: twice as far each time, then one by one (Linux
 * 2.6.5, find_group_other()). */
static u32 take_inode(struct fileset *set, u64 system, u64 group)
{
	struct group *groups = groups_of(set, system);
	u64 count = set->system_groups, at = group;

	for (u64 step = 1; step < count && groups[at].inodes == GROUP_INODES; step *= 2)
		at = (at + step) % count;
	for (u64 tried = 0; tried < count && groups[at].inodes == GROUP_INODES; tried++)
		at = (at + 1) % count;
	return (u32)(at * GROUP_INODES + ++groups[at].inodes);
}

/* A folder of the root: of the groups with no more inodes in use than the mean, the one with the
 * fewest folders (Orlov; Linux 2.6.5, find_group_orlov()). */
static u64 top_group(struct fileset *set, u64 system, u64 mean_inodes)
{
	struct group *groups = groups_of(set, system);
	u64 count = set->system_groups, start = below(set, count), best = start;
	u32 fewest = ~0u;

	for (u64 i = 0; i < count; i++) {
		u64 at = (start + i) % count;

		if (groups[at].inodes > mean_inodes || groups[at].folders >= fewest)
			continue;
		best = at;
		fewest = groups[at].folders;
	}
	return best;
}

/* Another folder: its parent's group or the next that has not too many folders and files. */
static u64 folder_group(struct fileset *set, u64 system, u64 parent, u64 mean_inodes,
			u64 mean_folders)
{
	struct group *groups = groups_of(set, system);
	u64 count = set->system_groups;

	for (u64 i = 0; i < count; i++) {
		struct group *at = &groups[(parent + i) % count];

		if (at->folders < mean_folders + GROUP_INODES / 16 &&
		    at->inodes <= mean_inodes + GROUP_INODES / 4 && at->inodes < GROUP_INODES)
			return (parent + i) % count;
	}
	return parent;
}

/* Number the inodes of one file system as they are made: a folder, then its files. */
static void number_files(struct fileset *set, u64 system)
{
	struct group *groups = groups_of(set, system);
	u64 first = system * set->each, end = min(first + set->each, set->files), top = 0;

	groups[0].inodes = FIRST_INODE;
	for (u64 file = first; file < end; file++) {
		u64 in_system = file - first, folder = in_system / set->folder_files,
		    number = system * set->system_folders + folder;

		if (in_system % set->folder_files == 0) {
			u64 inodes = (in_system + folder) / set->system_groups,
			    folders = folder / set->system_groups, group;

			if (folder % TOP_FOLDERS == 0) {
				top = top_group(set, system, inodes);
				take_inode(set, system, top);
				groups[top].folders++;
			}
			group = folder_group(set, system, top, inodes, folders);
			take_inode(set, system, group);
			groups[group].folders++;
			set->folder_groups[number] = (u32)group;
			set->parents[number] = next_dentry(set);
		}
		set->numbers[file] = take_inode(set, system, set->folder_groups[number]);
		next_dentry(set); /* the file's own */
	}
}

/* A share of the files, each with the same chance (Knuth 3.4.2, algorithm S). */
static void choose_used(struct fileset *set, u64 percent)
{
	u64 wanted = (set->files * percent + 99) / 100;

	for (u64 file = 0; file < set->files && set->used_count < wanted; file++) {
		if (below(set, set->files - file) < wanted - set->used_count)
			set->used[set->used_count++] = (u32)file;
	}
}

void fileset_free(struct fileset *set)
{
	if (!set)
		return;
	free(set->superblocks);
	free(set->parents);
	free(set->numbers);
	free(set->used);
	free(set->folder_groups);
	free(set->groups);
	free(set->names);
	free(set);
}

/* @files in @systems file systems, @folder_files in a folder, of which @percent are used by
 * @operations. NULL: no memory. */
struct fileset *fileset_make(u64 files, u64 systems, bool apart, u64 folder_files, u64 percent,
			     u64 operations, u64 seed)
{
	struct fileset *set = calloc(1, sizeof(*set));
	u64 folders;

	if (!set)
		return NULL;
	*set = (struct fileset){.files = files,
				.systems = systems,
				.folder_files = folder_files,
				.operations = operations,
				.state = seed};
	set->most_created = operations / 50 + 1;
	set->each = (files + systems - 1) / systems;
	set->system_folders = (set->each + folder_files - 1) / folder_files;
	/* three quarters of an ext2's inodes are in use */
	set->system_groups = (set->each + set->system_folders) * 4 / 3 / GROUP_INODES + 1;
	folders = set->system_folders * systems;
	set->superblocks = calloc(systems, sizeof(u64));
	set->parents = calloc(folders, sizeof(u64));
	set->folder_groups = calloc(folders, sizeof(u32));
	set->numbers = calloc(files + set->most_created, sizeof(u32));
	set->used = calloc(files * percent / 100 + 2, sizeof(u32));
	set->groups = calloc(set->system_groups * systems, sizeof(struct group));
	set->names = malloc((files + set->most_created + 1) * NAME_BYTES);
	if (!set->superblocks || !set->parents || !set->folder_groups || !set->numbers ||
	    !set->used || !set->groups || !set->names) {
		fileset_free(set);
		return NULL;
	}
	shuffle_chunks(set);
	place_superblocks(set, apart);
	for (u64 system = 0; system < systems; system++)
		number_files(set, system);
	choose_used(set, percent);
	return set;
}

u64 fileset_objects(const struct fileset *set)
{
	return set->files + set->most_created;
}

/* The inode number of @file, and through @superblock that address. */
u64 fileset_number(const struct fileset *set, u64 file, u64 *superblock)
{
	*superblock = set->superblocks[file / set->each];
	return set->numbers[file];
}

/* ---- operations ------------------------------------------------------------------------------ */

/* What is written at: the piece, and the names of its keys. */
struct piece {
	struct operation *at;
	char *name;
	int cache;
};

static void write_name(char *name, u64 number)
{
	memcpy(name, "file", 4);
	for (int i = NAME_LENGTH - 1; i >= 4; i--, number /= 10)
		name[i] = (char)('0' + number % 10);
}

/* One operation on @object: a file's number, or a new file's, which is in a used one's folder. */
static void add(struct fileset *set, struct piece *piece, unsigned kind, u64 object, u64 file,
		u64 name_number)
{
	struct operation *to = piece->at++;
	u64 system = file / set->each;

	*to = (struct operation){.kind = (u8)kind, .object = NONE};
	if (kind != FIND) /* it finds or changes an object */
		to->object = (u32)object;
	if (piece->cache == INODE) {
		to->first = set->superblocks[system];
		to->second = set->numbers[object];
		return;
	}
	to->first = set->parents[system * set->system_folders +
				 (file - system * set->each) / set->folder_files];
	to->name = piece->name;
	if (kind == INSERT)
		to->name = &set->names[object * NAME_BYTES];
	write_name((char *)to->name, name_number);
	to->length = NAME_LENGTH;
	piece->name += NAME_BYTES;
}

/* The number in a file's name: those of each file system begin anew. */
static u64 named(const struct fileset *set, u64 file)
{
	return file % set->each;
}

/* A new file is called as none is, in a used file's folder. */
static u64 new_home(const struct fileset *set, u64 created)
{
	return set->used[created * 7919 % set->used_count];
}

static void create(struct fileset *set, struct piece *piece)
{
	u64 home = new_home(set, set->created), object = set->files + set->created,
	    system = home / set->each, folder = (home - system * set->each) / set->folder_files;

	if (piece->cache == INODE)
		set->numbers[object] = take_inode(
			set, system, set->folder_groups[system * set->system_folders + folder]);
	add(set, piece, FIND, object, home, set->each + set->created);
	add(set, piece, INSERT, object, home, set->each + set->created);
	set->created++;
}

static void remove_oldest(struct fileset *set, struct piece *piece)
{
	u64 home = new_home(set, set->removed), object = set->files + set->removed;

	add(set, piece, FIND | KIND_FOUND, object, home, set->each + set->removed);
	add(set, piece, REMOVE, object, home, set->each + set->removed);
	set->removed++;
}

/* An NFS lookup: a name in a folder, which is not always there. */
static void look_up(struct fileset *set, struct piece *piece, u64 file)
{
	if (piece->cache == DENTRY && below(set, 100) < ABSENT_PERCENT)
		add(set, piece, FIND, file, file, 2 * set->each + named(set, file));
	else
		add(set, piece, FIND | KIND_FOUND, file, file, named(set, file));
}

/* readdirplus asks for every name of the folder. */
static void list_folder(struct fileset *set, struct piece *piece, u64 file)
{
	u64 system = file / set->each, first = system * set->each,
	    at = file - (file - first) % set->folder_files,
	    end = min(min(at + set->folder_files, first + set->each), set->files);

	for (; at < end; at++)
		add(set, piece, FIND | KIND_FOUND, at, at, named(set, at));
}

/*
 * One of SPECsfs97's operations for NFS version 3, of 99: its shares as user/workload/files.c has
 * them. A file handle names an inode: each operation but statfs looks one up. Names are looked up
 * by lookup, create, remove and readdirplus alone.
 */
static void operate(struct fileset *set, struct piece *piece)
{
	u64 draw = below(set, 99), file = set->used[below(set, set->used_count)];

	if (draw == 0 && set->created < set->most_created)
		create(set, piece);
	else if (draw == 1 && set->removed < set->created)
		remove_oldest(set, piece);
	else if (draw == 2)
		; /* statfs: the file system's root is held */
	else if (draw < 3 + 27)
		look_up(set, piece, file);
	else if (piece->cache == INODE)
		add(set, piece, FIND | KIND_FOUND, file, file, 0);
	else if (draw < 3 + 27 + 9)
		list_folder(set, piece, file);
}

/* Operations into @out, which has @room (more than 2 and a folder's files), and names of their keys
 * into @names, which has NAME_BYTES for each and one more. How many; 0: that was all. */
u64 fileset_next(struct fileset *set, int cache, struct operation *out, char *names, u64 room)
{
	struct piece piece = {out, names, cache};
	const struct operation *last = out + room - 2 - set->folder_files;
	bool filling = set->made < set->files;

	while (filling && set->made < set->files && piece.at < last) {
		u64 file = set->made++;

		add(set, &piece, FIND, file, file, named(set, file));
		add(set, &piece, INSERT, file, file, named(set, file));
	}
	while (!filling && set->done < set->operations && piece.at < last) {
		set->done++;
		operate(set, &piece);
	}
	operation_rows(out, (u64)(piece.at - out));
	return (u64)(piece.at - out);
}

/* Is the set read in? */
bool fileset_filled(const struct fileset *set)
{
	return set->made == set->files;
}
