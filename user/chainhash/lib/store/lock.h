/*
 * lock.h - one writer, and which states readers are at.
 *
 * By locks of the open file description (fcntl's F_OFD_SETLK) on bytes that no file has: byte
 * 2^62 is the writer's, alone; a reader of state n shares byte 2^62 + 1 + n. They end when
 * the last descriptor of the handle's open file is closed, however processes end, so that no dead
 * reader keeps pages from their next use; and nobody locks anything on the way of a get. A forked
 * child has such a descriptor: closing in the parent does not unlock, since the child may go on to
 * read by the same handle.
 *
 * A reader that finds state n newest, locks it, and finds it still the newest, is safe: the writer
 * looks for readers only after the header of a newer state is written, and takes n's pages into use
 * after that look.
 */
#pragma once

#include "table.h"

/* Become the writer: -EAGAIN if there is one, unless we are to @wait. */
int lock_writer(int descriptor, bool wait);

/*
 * Let nobody become a reader, or (not @held) let them again: -EAGAIN if there is one. It is for a
 * writer who cuts the file off: a look for readers would not do, since one may come right behind
 * it.
 */
int lock_readers_out(int descriptor, bool held);

/* Be a reader of state @sequence, or (not @held) no longer. Waits while readers are kept out. */
int lock_reader(int descriptor, u64 sequence, bool held);

/* The oldest state that somebody reads; @newest, the writer's, if nobody is at one before it. */
int lock_oldest_reader(int descriptor, u64 newest, u64 *oldest);
