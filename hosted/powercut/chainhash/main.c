/*
 * main.c - libchainhash on ext2 over a disk with a volatile cache: the power is cut after any
 * request of the disk, any subset of what was not flushed is on the platter, e2fsck repairs the
 * file system, and the table must be what the library promised.
 *
 *	chainhash_cuts [--seed N] [--seeds N] [--budget N] [--image NAME] [--cut AFTER:SUBSET:WHICH]
 *
 * A seed is a table and its changes, in a process of its own; --budget, how many cuts of each are
 * judged. It ends with 1 if a promise is not kept, which is printed with the command that shows it
 * again. The disk's cache and the images are those of the ring (../powercut.h).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log/assert.h"
#include "hosted/harness/harness.h"
#include "hosted/machine/user.h"
#include "hosted/powercut/chainhash/chainhash.h"
#include "hosted/powercut/powercut.h"

static struct hosted_disk disk;
static struct options {
	u64 seed, seeds, budget;
	struct cut cut;
	bool one_cut;
} options = {.seed = 1, .seeds = 10, .budget = 40};

unsigned cut_moment(void)
{
	return journal_length;
}

static const char *judge_cut(const struct cut *cut, unsigned char *image)
{
	u64 hash = cut_image(cut, image);
	const char *wrong;

	if (!repair(hash, image))
		return "e2fsck -fy does not end in a clean file system";
	memcpy(disk.image, image, IMAGE_BYTES);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	wrong = table_judge(cut->after);
	CHECK_EQUAL(umount_disk(), 0);
	return wrong;
}

/* Any moment, any subset: of few pending blocks each is as likely, of many some kinds are. */
static struct cut draw_cut(struct rng *rng)
{
	static const enum subset kinds[] = {KEEP_NONE,	KEEP_ALL,    KEEP_ALL_BUT, KEEP_ONLY,
					    KEEP_FIRST, KEEP_RANDOM, KEEP_RANDOM,  KEEP_TORN};
	struct cut cut = {.after = (unsigned)rng_below(rng, journal_length + 1),
			  .subset = kinds[rng_below(rng, ARRAY_SIZE(kinds))]};

	cut.which = rng_below(rng, cut_pending(cut.after) + 1);
	if (cut.subset == KEEP_RANDOM || cut.subset == KEEP_TORN)
		cut.which = rng_below(rng, 1u << 30);
	return cut;
}

/* In a process of its own: how many cuts broke a promise. */
static int run_seed(u64 seed, const char *program)
{
	unsigned char *image = malloc(IMAGE_BYTES);
	struct rng rng = {seed * 77};
	int failed = 0;

	disk.asynchronous = true;
	disk_rng.state = seed;
	user_enter(mm_create());
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	journal_start(&disk);
	table_run(seed);
	journal_stop();
	disk.asynchronous = false;
	CHECK_EQUAL(umount_disk(), 0);
	for (u64 i = 0; i < (options.one_cut ? 1 : options.budget) && !failed; i++) {
		struct cut cut = options.one_cut ? options.cut : draw_cut(&rng);
		const char *wrong = judge_cut(&cut, image);

		if (!wrong)
			continue;
		failed++;
		printf("not ok: seed %llu, the power is cut after %u of %u requests, of %u pending "
		       "blocks are kept: %s %llu\n  %s\n  %s --image %s --seeds 1 --seed %llu "
		       "--cut %u:%s:%llu\n",
		       (unsigned long long)seed, cut.after, journal_length, cut_pending(cut.after),
		       subset_names[cut.subset], (unsigned long long)cut.which, wrong, program,
		       geometry->name, (unsigned long long)seed, cut.after,
		       subset_names[cut.subset], (unsigned long long)cut.which);
	}
	user_leave();
	free(image);
	fflush(stdout);
	return failed;
}

static void usage(void)
{
	fprintf(stderr, "usage: chainhash_cuts [--seed N] [--seeds N] [--budget N] [--image NAME] "
			"[--cut AFTER:SUBSET:WHICH]\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {{"seed", 1, NULL, 's'},	{"seeds", 1, NULL, 'n'},
					      {"budget", 1, NULL, 'b'}, {"image", 1, NULL, 'i'},
					      {"cut", 1, NULL, 'c'},	{0}};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		u64 number = optarg ? strtoull(optarg, NULL, 10) : 0;

		if (option == 's')
			options.seed = number;
		else if (option == 'n')
			options.seeds = number;
		else if (option == 'b')
			options.budget = number;
		else if (option == 'c')
			options.one_cut = cut_parse(optarg, &options.cut);
		if (option == '?' || (option == 'c' && !options.one_cut) ||
		    (option == 'i' && !choose_geometry(optarg)))
			usage();
	}
}

int main(int argc, char **argv)
{
	u64 failed = 0;
	char path[128];

	test_failure_aborts = true; /* a seed whose CHECK fails has failed */
	parse(argc, argv);
	snprintf(path, sizeof(path), "%s/cut%u", access("/dev/shm", W_OK) ? scratch() : "/dev/shm",
		 (unsigned)getpid());
	judge_image_path = path;
	hosted_quiet = true;
	hosted_init(64);
	prepare_image(&disk);
	for (u64 seed = options.seed; seed < options.seed + options.seeds; seed++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(run_seed(seed, argv[0]));
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
			printf("not ok: seed %llu ended the process\n", (unsigned long long)seed);
			failed++;
		} else {
			failed += WEXITSTATUS(status) != 0;
		}
	}
	unlink(path);
	printf("%s seed %llu: %llu tables, %llu cuts of each; %llu tables failed\n",
	       failed ? "not ok" : "ok", (unsigned long long)options.seed,
	       (unsigned long long)options.seeds, (unsigned long long)options.budget,
	       (unsigned long long)failed);
	return failed != 0;
}
