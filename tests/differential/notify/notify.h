/*
 * notify.h - what the scenarios of inotify(7) share.
 */
#pragma once

#include "../scenarios.h"

#include <sys/inotify.h>

/* The events in @fd's queue, in order: watch, kinds, and name if there is one. Of the two halves of
 * a rename each shows which of the renames that this look has seen it is of. */
void look(int fd);
/* An inotify whose reads do not wait. */
int notify_queue(void);
/* As inotify_add_watch(), shown. */
#define WATCH(fd, name, mask)                                                                      \
	((int)show("watch " #name " " #mask, inotify_add_watch(fd, name, mask)))
