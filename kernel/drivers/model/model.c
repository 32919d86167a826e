/*
 * model.c - a disk's time for the RAM disk: when a request that was copied is completed.
 *
 * The time is that of the kernel's clock: under icount virtual time, so that what waits for the
 * disk is repeatable too. Requests wait in a queue, of which one is served at a time: the next one
 * upwards from the head, or from the lowest when there is none (C-LOOK, as Linux 2.2 sorts them);
 * a timer ends it while processes run. Serving one takes
 *
 *	command  +  seek + (stroke - seek) * sqrt(distance / size of the disk), to another cylinder
 *		 +  the rest of the turn until its first sector comes  +  sectors * turn / track
 *
 * The image is stretched over the whole disk: its cylinders are those of the disk, but fewer and
 * further apart. Where the platter stands follows from the clock. After a request the head goes on,
 * for a turn at most, into the drive's buffer: a read that continues the last request, and a write
 * that has been waiting to, cost what is left of their transfer. Neither the change to the next
 * track nor a flush costs anything: tracks are skewed, and there is no cache of writes. Without a
 * stroke nothing moves or turns. docs/lab/simulated/disk-model.md has the numbers of some disks.
 */
#include "core/base/room.h"
#include "fs/block/block.h"
#include "kernel/drivers/drivers.h"

/* COMMAND to TURN are nanoseconds, the others sectors. */
enum { COMMAND, SEEK, STROKE, TURN, TRACK, CYLINDER, MODEL_NUMBERS };
static u64 model[MODEL_NUMBERS];

/* Under the lock: */
static DEFINE_SPINLOCK(model_lock);
static LIST_HEAD(queue);
static struct block_request *in_service; /* NULL: the queue is empty, too */
static struct timer service;		 /* its end */
static sector_t head_sector;		 /* where the head will have come to with it, */
static u64 head_ns;			 /* and when */

static u64 seek_ns(const struct block_request *request)
{
	u64 cylinders = request->device->sectors / model[CYLINDER] + 1;
	u64 from = head_sector / model[CYLINDER], goal = request->sector / model[CYLINDER];
	u64 distance = goal > from ? goal - from : from - goal;
	u64 root = int_sqrt((distance << 32) / cylinders); /* of the fraction, in 65536ths */

	lockdep_assert_held(&model_lock);
	if (!distance)
		return 0;
	return model[SEEK] + ((model[STROKE] - model[SEEK]) * root >> 16);
}

/* When @request will have been served, which is begun at @now. */
static u64 serve(const struct block_request *request, u64 now)
{
	u64 ready = now + model[COMMAND];
	bool goes_on = request->sector == head_sector &&
		       (request->operation == BLOCK_READ || now <= head_ns);

	lockdep_assert_held(&model_lock);
	head_ns = max(head_ns, now - min(now, model[TURN]));
	if (model[STROKE] && !goes_on) {
		u64 angle = request->sector % model[TRACK] * model[TURN] / model[TRACK];

		head_ns = ready + seek_ns(request);
		head_ns += (angle + model[TURN] - head_ns % model[TURN]) % model[TURN];
	} else if (!model[STROKE]) {
		head_ns = ready;
	}
	head_ns += request->sectors * model[TURN] / model[TRACK];
	head_sector = request->sector + request->sectors;
	return max(head_ns, ready);
}

static void serve_next(u64 now)
{
	struct block_request *request;

	lockdep_assert_held(&model_lock);
	in_service = NULL;
	/* What lies behind the head wraps round, and so comes last. */
	list_for_each_entry(request, &queue, link)
		if (!in_service ||
		    request->sector - head_sector < in_service->sector - head_sector)
			in_service = request;
	if (in_service) {
		list_del(&in_service->link);
		timer_start(&service, serve(in_service, now));
	}
}

static void served(void *unused)
{
	struct block_request *request = in_service;

	spin_lock(&model_lock);
	serve_next(service.deadline_ns);
	spin_unlock(&model_lock);
	request->done(request);
}

static void queue_request(struct block_request *request)
{
	guard(spinlock_irqsave, &model_lock);
	list_add_tail(&request->link, &queue);
	if (!in_service)
		serve_next(ktime_ns());
}

static void disk_model_start(void)
{
	const char *at = cmdline_value("ramdisk_model");

	for (unsigned i = 0; at && i < MODEL_NUMBERS; at += *at == ',')
		model[i++] = memparse(at, &at);
	if (!at || *at || !model[TURN] || !model[TRACK] || !model[CYLINDER] ||
	    (model[STROKE] && model[STROKE] < model[SEEK]))
		return;
	timer_init(&service, served, NULL);
	ramdisk_model = queue_request;
}
ROOM_START(disk_model_start);
