/*
 * journal.c - the volatile cache of a disk: every write and flush is written down as it is
 * submitted, and from that it follows what may be on the platter after a cut at any moment.
 *
 * A flush makes durable what had been completed when it was submitted, and nothing else. Of the
 * rest any subset may be there; per sector the newest that was kept counts, so the order in which
 * the disk writes them adds nothing. A write whose memory has changed until it is completed is two:
 * either may be what the disk saw.
 */
#include <stdlib.h>
#include <string.h>

#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

struct journal_event *journal;
unsigned journal_length;
static unsigned journal_room;
static unsigned char *base;
static u64 base_hash;

const char *const subset_names[SUBSETS] = {"none",  "all",  "all-but", "only",
					   "first", "mask", "random",  "torn"};

/* ---- writing down ---------------------------------------------------------------------------- */

static struct journal_event *add_event(unsigned kind)
{
	if (journal_length == journal_room) {
		journal_room = 2 * journal_room + 64;
		journal = realloc(journal, journal_room * sizeof(*journal));
	}
	journal[journal_length] = (struct journal_event){.kind = kind, .durable = ~0u};
	return &journal[journal_length++];
}

static u64 request_bytes(const struct block_request *request)
{
	u64 bytes = 0;

	for (unsigned i = 0; i < request->segment_count; i++)
		bytes += request->segments[i].length;
	return bytes;
}

static void copy_data(const struct block_request *request, unsigned char *to)
{
	for (unsigned i = 0; i < request->segment_count; i++) {
		memcpy(to, request->segments[i].data, request->segments[i].length);
		to += request->segments[i].length;
	}
}

/* In flight: what was submitted and is not completed yet. */
#define FLYING_MAX 4096
static struct flying {
	const struct block_request *request;
	unsigned event;
	unsigned covers; /* of a flush: events before this one that were completed then */
} flying[FLYING_MAX];
static unsigned flying_count;
static bool *completed; /* by event */
static unsigned completed_room;

static void set_completed(unsigned event)
{
	if (event >= completed_room) {
		unsigned room = 2 * event + 64;

		completed = realloc(completed, room);
		memset(completed + completed_room, 0, room - completed_room);
		completed_room = room;
	}
	completed[event] = true;
}

static bool is_completed(unsigned event)
{
	return event < completed_room && completed[event];
}

static void note_write(const struct block_request *request)
{
	struct journal_event *event = add_event(EVENT_WRITE);

	event->sector = request->sector;
	event->bytes = request_bytes(request);
	event->data = malloc(event->bytes);
	copy_data(request, event->data);
}

/* What was completed at @limit's submission is on the platter once the flush is. Until the flush is
 * done nothing is sure, so its event comes then. */
static void submitted(struct hosted_disk *disk, const struct block_request *request)
{
	(void)disk;
	if (request->operation == BLOCK_READ)
		return;
	BUG_ON(flying_count == FLYING_MAX);
	if (request->operation == BLOCK_WRITE) {
		note_write(request);
		flying[flying_count++] =
			(struct flying){.request = request, .event = journal_length - 1};
		return;
	}
	for (unsigned i = 0; i < journal_length; i++)
		if (journal[i].kind == EVENT_WRITE && journal[i].durable == ~0u && is_completed(i))
			journal[i].durable = ~1u; /* by this flush, when it is done */
	flying[flying_count++] = (struct flying){.request = request, .event = journal_length};
}

static void write_done(const struct block_request *request, unsigned number)
{
	unsigned char *now = malloc(journal[number].bytes);

	copy_data(request, now);
	set_completed(number);
	if (memcmp(now, journal[number].data, journal[number].bytes) != 0) {
		note_write(request);
		set_completed(journal_length - 1);
	}
	free(now);
}

static void done(struct hosted_disk *disk, const struct block_request *request)
{
	unsigned i = 0;

	(void)disk;
	if (request->operation == BLOCK_READ)
		return;
	while (i < flying_count && flying[i].request != request)
		i++;
	if (i == flying_count) /* from before the start */
		return;
	if (request->operation == BLOCK_WRITE) {
		write_done(request, flying[i].event);
	} else {
		unsigned flush = (unsigned)(add_event(EVENT_FLUSH) - journal);

		for (unsigned n = 0; n < flush; n++)
			if (journal[n].kind == EVENT_WRITE && journal[n].durable == ~1u)
				journal[n].durable = flush;
	}
	flying[i] = flying[--flying_count];
}

/* ---- images ---------------------------------------------------------------------------------- */

static u64 sector_hash(u64 sector, const unsigned char *data)
{
	u64 hash = sector * 0x9e3779b97f4a7c15ull + 1, word;

	for (unsigned i = 0; i < SECTOR_SIZE; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		hash = (hash ^ word) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
	}
	return hash;
}

void journal_start(struct hosted_disk *disk)
{
	if (!base)
		base = malloc(IMAGE_MAX);
	memcpy(base, disk->image, IMAGE_BYTES);
	base_hash = 0;
	for (u64 i = 0; i < IMAGE_BYTES / SECTOR_SIZE; i++)
		base_hash += sector_hash(i, base + i * SECTOR_SIZE);
	disk->submitted = submitted;
	disk->done = done;
}

void journal_stop(void)
{
	struct hosted_disk *disk = find_block_device("ram0", 0)->driver;

	while (disk_complete_one())
		;
	disk->submitted = disk->done = NULL;
}

static bool is_pending(const struct journal_event *event, unsigned after)
{
	return event->kind == EVENT_WRITE && event->durable >= after;
}

unsigned cut_pending(unsigned after)
{
	unsigned count = 0;

	for (unsigned i = 0; i < after; i++)
		if (is_pending(&journal[i], after))
			count += (unsigned)DIV_ROUND_UP(journal[i].bytes, geometry->block);
	return count;
}

static bool keeps(const struct cut *cut, unsigned unit, struct rng *rng)
{
	switch (cut->subset) {
	case KEEP_ALL:
		return true;
	case KEEP_ALL_BUT:
		return unit != cut->which;
	case KEEP_ONLY:
		return unit == cut->which;
	case KEEP_FIRST:
		return unit < cut->which;
	case KEEP_MASK:
		return cut->which >> unit & 1;
	case KEEP_RANDOM:
	case KEEP_TORN:
		return rng_below(rng, 2);
	default:
		return false;
	}
}

/* The sectors of one write that are on the platter: @newest has for each the data that count. */
static void apply(const struct cut *cut, const struct journal_event *event, bool pending,
		  unsigned *unit, struct rng *rng, const unsigned char **newest)
{
	bool keep = true;

	for (u64 at = 0; at < event->bytes; at += SECTOR_SIZE) {
		if (pending && (at % geometry->block == 0 || cut->subset == KEEP_TORN))
			keep = keeps(cut, *unit, rng);
		*unit += pending && (at + SECTOR_SIZE) % geometry->block == 0;
		if (keep)
			newest[event->sector + at / SECTOR_SIZE] = event->data + at;
	}
}

bool cut_parse(char *text, struct cut *cut)
{
	char *kind = strchr(text, ':'), *which = kind ? strchr(kind + 1, ':') : NULL;

	if (!which)
		return false;
	*kind++ = *which++ = 0;
	*cut = (struct cut){.after = (unsigned)strtoul(text, NULL, 10),
			    .which = strtoull(which, NULL, 10)};
	while (cut->subset < SUBSETS && strcmp(kind, subset_names[cut->subset]) != 0)
		cut->subset++;
	return cut->subset < SUBSETS;
}

u64 cut_image(const struct cut *cut, unsigned char *image)
{
	static const unsigned char *newest[IMAGE_MAX / SECTOR_SIZE];
	struct rng rng = {cut->which};
	u64 hash = base_hash;
	unsigned unit = 0;

	memset(newest, 0, sizeof(newest));
	for (unsigned i = 0; i < cut->after; i++)
		if (journal[i].kind == EVENT_WRITE)
			apply(cut, &journal[i], is_pending(&journal[i], cut->after), &unit, &rng,
			      newest);
	if (image)
		memcpy(image, base, IMAGE_BYTES);
	for (u64 i = 0; i < IMAGE_BYTES / SECTOR_SIZE; i++) {
		if (!newest[i])
			continue;
		hash += sector_hash(i, newest[i]) - sector_hash(i, base + i * SECTOR_SIZE);
		if (image)
			memcpy(image + i * SECTOR_SIZE, newest[i], SECTOR_SIZE);
	}
	return hash;
}
