/* table.c - as places.c: what the table of paths keeps of a path that leads elsewhere by now. */
#include "hosted/interleave/programs/direct/direct.h"
#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/find.h"
#endif

/* At every moment there is one entry of a path, at most. */
static void check_each_path_once(void)
{
#ifdef CONFIG_DCACHE_FASTPATH
	for (u32 bucket = 0; bucket < path_cache_hash.entries; bucket++) {
		struct direct_entry *one = NULL;

		while ((one = path_table_next(&path_table_instance, bucket, one))) {
			struct direct_entry *other = one;

			while ((other = path_table_next(&path_table_instance, bucket, other)))
				CHECK(signatures_differ(&one->signature, &other->signature));
		}
	}
#endif
}

/* A directory moves away, whose file's entry is void then, and another is made in its place. */
static void make_up_anew(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up", "/mnt/old", 0);
		make_directory("/mnt/up", 0755);
		make_directory("/mnt/up/dir", 0755);
		make_file("/mnt/up/dir/file");
		CHECK_EQUAL(stat_path("/mnt/up/dir/file"), 0);
		check_each_path_once();
		remove_file("/mnt/up/dir/file");
		remove_directory("/mnt/up/dir");
		remove_directory("/mnt/up");
		check_each_path_once();
		move("/mnt/old", "/mnt/up", 0);
	}
}

RING_PROGRAM(direct_each_once, world_tmpfs, 60)
{
	make_up();
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(make_up_anew, NULL);
	ring_run();
	check_each_path_once();
	world_unmount();
}
