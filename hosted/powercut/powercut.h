/*
 * powercut.h - the ring of power cuts: short scripts of calls run on ext2 over a disk with a
 * volatile cache; the power is cut after every write and every flush; e2fsck repairs what is left,
 * and the judge asks whether all that was promised (docs/kernel/durability.md) is there.
 *
 * After CrashMonkey and ACE (Mohan et al., OSDI 2018): all short scripts, on a small disk, judged
 * from outside. What is told apart here is the disk's cache: of the writes since the last flush any
 * subset may have reached the platter.
 *
 *	journal.c	what the disk was asked for, and what a cut leaves on the platter
 *	script.c	the calls: their text, and what is promised behind them
 *	model.c		what they do to the model
 *	run.c		running them
 *	vocabulary.c	all of them
 *	image.c		the file systems
 *	repair.c	e2fsck
 *	judge.c		a look at everything, and the comparison with the model
 *	cuts.c		which cuts and subsets of one script are tried
 *	main.c		which scripts, in processes of their own
 */
#pragma once

#include "hosted/machine/hosted.h"

/* The file systems that scripts run on. */
struct geometry {
	const char *name;
	u32 block;     /* bytes; by these subsets are chosen */
	u32 kilobytes; /* of the image */
	u32 per_group; /* blocks */
};
extern const struct geometry *geometry;
#define IMAGE_MAX KB(1280)
#define IMAGE_BYTES KB(geometry->kilobytes)
bool choose_geometry(const char *name); /* false: there is none of that name */
/* @disk: with what is there before each script. */
void prepare_image(struct hosted_disk *disk);

/* ---- the journal ----------------------------------------------------------------------------- */

struct journal_event {
	enum { EVENT_WRITE, EVENT_FLUSH } kind;
	u64 sector, bytes;
	unsigned char *data;
	/* of a write: the number of the flush's event that made it durable, ~0: none did */
	unsigned durable;
};
extern struct journal_event *journal;
extern unsigned journal_length;

/* From now on what @disk is asked for is written down; its image now is where all cuts begin. */
void journal_start(struct hosted_disk *disk);
void journal_stop(void);

/* A cut after so many events, and what of the pending writes is on the platter. */
struct cut {
	unsigned after;
	enum subset {
		KEEP_NONE,
		KEEP_ALL,
		KEEP_ALL_BUT,
		KEEP_ONLY,
		KEEP_FIRST,
		KEEP_MASK,
		KEEP_RANDOM,
		KEEP_TORN,
		SUBSETS
	} subset;
	u64 which; /* a block's number among those pending; the mask; a seed */
};
extern const char *const subset_names[SUBSETS];
/* AFTER:SUBSET:WHICH as a cut, its text taken apart; false: it is none. */
bool cut_parse(char *text, struct cut *cut);
/* Blocks that are pending at such a cut: requests' pieces of a block each, in order. */
unsigned cut_pending(unsigned after);
/* What is on the platter into @image (NULL: only the hash): its hash. */
u64 cut_image(const struct cut *cut, unsigned char *image);

/* ---- scripts and the model ------------------------------------------------------------------- */

#define OPS_MAX 5 /* calls of a script */
#define TIMES (OPS_MAX + 1)
#define RECORD 64 /* bytes of a file that tell whose they are: sizes and offsets are multiples */
#define STORE 8	  /* of them a program stores at a time */
#define RECORDS_MAX (KB(320) / RECORD)
#define OBJECTS_MAX 16
#define NAMES_MAX 12 /* that objects may have, by name_texts */
#define SCRIPT_MAX 256

enum verb {
	/* into a file */
	VERB_WRITE,
	VERB_APPEND,
	VERB_SYNCWRITE,	 /* O_SYNC */
	VERB_DSYNCWRITE, /* O_DSYNC */
	VERB_REPLACE,
	VERB_NAMELESS, /* one that gets its name when it is written */
	VERB_STORE,    /* through a shared mapping */
	/* that make something */
	VERB_CREATE,
	VERB_MKDIR,
	VERB_SYMLINK,
	VERB_TRUNCATE,
	VERB_LINK,
	VERB_RENAME,
	VERB_NOREPLACE,
	VERB_EXCHANGE,
	VERB_UNLINK,
	VERB_RMDIR,
	VERB_SETXATTR,
	VERB_REMOVEXATTR,
	/* that change nothing */
	VERB_MSYNC,
	VERB_FSYNC,
	VERB_FDATASYNC,
	VERB_SYNCFS,
	VERB_SYNC,
	VERB_WRITEBACK,
	VERB_EVICT, /* inodes go to their blocks, and out of memory; the blocks stay dirty */
	VERBS
};

struct op {
	enum verb verb;
	char path[2][40];
	u32 number[2];
	unsigned stage;	      /* the calls of one run at the same time, each in a task of its own */
	unsigned begun, done; /* length of the journal when the call began and had returned */
	unsigned started, returned; /* the same moments, by a clock of the script's own */
};

enum type { TYPE_NONE, TYPE_FILE, TYPE_DIR, TYPE_LINK };

/* An object at one time: after so many calls. */
struct version {
	bool exists;
	u32 size;		 /* bytes; of a link: of its text */
	u8 attribute;		 /* the call that set it; 0: there is none */
	u8 entries[NAMES_MAX];	 /* of a directory: objects; 0: none */
	u8 writers[RECORDS_MAX]; /* the call that wrote each record; 0: nobody, zeros */
};

struct script {
	struct op ops[OPS_MAX];
	unsigned count;
	enum type types[OBJECTS_MAX];
	unsigned objects;
	struct version (*times)[OBJECTS_MAX]; /* [TIMES] */
};
#define ROOT_OBJECT 1
#define FURNITURE_OBJECTS 8 /* the root and what is there before the script */
#define KEEP_OBJECT 8
#define FIRST_WRITER 100 /* what wrote what is there before the script */

extern const char *const name_texts[NAMES_MAX];
extern const char *const vocabulary[];
extern const unsigned vocabulary_size;

/* Parse "append foo 1024; rename foo bar & sync; unlink bar" and run it on the model; what stands
 * between "&" runs at the same time. false if it has no meaning, because a file is missing for
 * example, or because it depends on which of those comes first. */
bool script_make(struct script *script, const char *text);
/* Make what is there before each script, below /mnt, and the model of it. */
void script_prepare(void);
/* The @number-th call of those that make it, on the model too; false: there are no more. */
bool script_furniture(struct script *script, unsigned number, struct op *op);
/* Run the calls on /mnt; the test fails if one does. */
void script_run(struct script *script);
static inline bool is_synced_write(enum verb verb)
{
	return verb == VERB_SYNCWRITE || verb == VERB_DSYNCWRITE;
}
static inline bool is_sync(enum verb verb)
{
	return is_synced_write(verb) || (verb >= VERB_MSYNC && verb <= VERB_SYNC);
}
/* The time at which the calls of @op's stage begin. */
unsigned stage_start(const struct script *script, unsigned op);
/* The @index-th record of what @object's @writer wrote, into @record. */
void record_fill(char *record, unsigned object, unsigned writer, u32 index);

/* A name in a directory. */
struct place {
	unsigned dir, name, object; /* 0: none */
};
/* false: a directory on the way is missing. "." is the root, in no directory. */
bool find_place(const struct script *script, const struct version *at, const char *path,
		struct place *place);
/* The model of an empty file system at time 0. */
void model_clear(struct script *script);
/* The @writer-th call, on the objects as they are @at a time: does it have a meaning? */
bool model_apply(struct script *script, struct version *at, const struct op *op, unsigned writer);

/* From which time on what is known is promised: the last sync of each. */
struct promises {
	u8 contents[OBJECTS_MAX];
	u8 names[OBJECTS_MAX][NAMES_MAX];
	u8 object[OBJECTS_MAX]; /* that it has a name, if it always had one since */
	unsigned now;		/* the newest state there may be */
};
#define NOT_PROMISED 255
void script_promises(const struct script *script, unsigned after, struct promises *promises);

/* ---- the judge ------------------------------------------------------------------------------- */

/* Repair @image and compare it: NULL, or what is wrong, in memory of its own. */
const char *judge(struct hosted_disk *disk, const struct script *script, const struct cut *cut,
		  u64 hash, unsigned char *image);
/* @image becomes what e2fsck -fy makes of it: does e2fsck -fn find no more then? */
bool repair(u64 hash, unsigned char *image);
extern const char *judge_image_path; /* where e2fsck finds the image */
extern u64 judge_checks;	     /* runs of e2fsck */

/* ---- one script ------------------------------------------------------------------------------ */

struct cut_totals {
	u64 scripts, cuts, images, checks, failed, failed_scripts;
};

/* Run @script and try @budget of its images, in an order drawn from @seed; @only: that cut alone.
 * Calls @report for each that fails. */
void try_cuts(struct script *script, struct hosted_disk *disk, unsigned budget, u64 seed,
	      const struct cut *only, struct cut_totals *totals, u64 *seen, u64 seen_size,
	      void (*report)(const struct script *, const struct cut *, const char *));
