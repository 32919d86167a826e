/*
 * ndbm.h - the interface of 4.3BSD's ndbm over libchainhash.
 *
 * Programs written to ndbm (also to gdbm's ndbm.h, whose types these are) compile and link with it
 * unchanged: -I.../include/chainhash, -lchainhash_ndbm -lchainhash. The differences, all of them:
 *
 *	- The records are in NAME.pag, whose format is chainhash's. NAME.dir is an empty file, for
 *	  programs that look for it.
 *	- A pair has no largest size but an int's, and colliding keys are never refused.
 *	- What is stored is in the file, whole, after dbm_close(), or when the program ends by
 *	  exit() or by returning from main(); after any other end the file is as it was when it
 *	  was opened.
 *	- One process at a time may have a database open for writing: EAGAIN for others. Readers
 *	  stay with the state that they opened.
 *	- A forked child may fetch by its parent's handle as long as the parent changes nothing, but
 *	  neither store nor delete: EPERM. What it is to change it opens itself, when the parent
 *	  has closed it: a daemon opens its database behind daemon(3), not before.
 *	- While firstkey and nextkey go over the keys, the key at hand may be deleted, or
 *	  stored again with no more data; longer data may have keys met twice or not at all.
 *	- Where NAME.pag cannot be opened, a NAME.dir that was made for it stays.
 *	- O_RDONLY with O_CREAT or O_TRUNC opens as a writer, though nothing can be stored: EAGAIN
 *	  beside another.
 */
#ifndef CHAINHASH_NDBM_H
#define CHAINHASH_NDBM_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	char *dptr;
	int dsize;
} datum;

typedef struct chainhash_dbm DBM;

#define DBM_INSERT 0
#define DBM_REPLACE 1

/* @flags and @mode are those of open(). NULL: errno says why. */
DBM *dbm_open(const char *name, int flags, mode_t mode);

/* errno is as before, unless what was stored could not be written: it says why then. */
void dbm_close(DBM *db);

/* dptr is NULL if there is no such key. The bytes are good until the next call of the same kind. */
datum dbm_fetch(DBM *db, datum key);
datum dbm_firstkey(DBM *db);
datum dbm_nextkey(DBM *db);

/* 0; 1: the key is there and @how is DBM_INSERT; -1: an error, and errno says which;
 * EINVAL: a dptr of NULL or a dsize below 0, which is no item. An empty item has another dptr. */
int dbm_store(DBM *db, datum key, datum content, int how);

/* 0; -1: there is no such key (errno ENOENT), or an error. */
int dbm_delete(DBM *db, datum key);

/* Has any call failed since it was opened, or since dbm_clearerr()? The errno of it; 0: none. */
int dbm_error(DBM *db);
int dbm_clearerr(DBM *db);

int dbm_dirfno(DBM *db);
int dbm_pagfno(DBM *db);
int dbm_rdonly(DBM *db);

#ifdef __cplusplus
}
#endif

#endif
