/*
 * dcache_rooms.h - what the optional rooms of the dentry cache ask of the default kernel: complete
 * directories and more negative dentries (docs/kernel/dcache/complete-directories.md). Without a
 * room its questions have the answers that stand here. Included by dentry.h.
 */
#pragma once

#ifdef CONFIG_DCACHE_COMPLETE
#include "fs/path/complete/complete.h"
#else
#define d_is_numbered(dentry) false
#define dentry_forget_children(dentry) ((void)0)
#define may_complete(dentry, dotdot) (dentry)
#define d_instantiate_new(dentry, inode, dotdot) d_instantiate(dentry, inode)
#define d_add_found(dentry, inode, dotdot) d_add(dentry, inode)
#define d_number(dentry) 0
#define child_placed(dentry, block, offset) ((void)0)
#define child_unlink(dentry, parent) list_del(&(dentry)->child_link)
#define child_lost(dentry) ((void)0)
#define d_delete_child(dentry) d_delete(dentry)
#define d_move_child(dentry, target, flags) d_move(dentry, target, flags)
#define cached_name(dir, dentry) (dentry)
#define lookup_uncached(dir, dentry) (dir)->op->lookup(dir, dentry)
#define iterate_directory(file, out) (file)->fop->iterate(file, &(out)->context)
#endif

#ifdef CONFIG_DCACHE_NEGATIVE
#include "fs/path/negative/negative.h"
#else
#define d_delete_name(dentry) d_delete_child(dentry)
#define d_move_name(dentry, target, flags) d_move_child(dentry, target, flags)
#define no_such_name(dentry, for_good) (-ENOENT)
#define cached_absence(dir, dentry) (dentry)
#endif
