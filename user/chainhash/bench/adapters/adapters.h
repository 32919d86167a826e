/*
 * adapters.h - libraries of the distribution behind the interface of system.h.
 *
 * Each adapter is a file of this folder and is compiled where the library's headers and archive are
 * there (the Makefile tries); HAVE_NAME says so. An adapter keeps to what a program of its library
 * would do by its manual, with defaults but for the options that it names.
 */
#pragma once

#include "../../others/system.h"

/* All systems: the text's and those adapters that were built; ends with NULL. */
extern const struct system *const every_system[];

/* Names of the adapters that were not built, with their packages of Debian; ends with NULL. */
extern const char *const absent_systems[];

/* The one of every_system with this name; NULL: there is none. */
const struct system *any_system_named(const char *name);

extern const struct system chainhash_adapter, gdbm_ndbm_adapter, apr_sdbm_adapter, gdbm_adapter,
	berkeley_adapter, tdb_adapter, lmdb_adapter, tokyo_adapter, libc_hsearch_adapter;
