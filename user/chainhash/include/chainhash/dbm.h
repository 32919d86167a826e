/*
 * dbm.h - the interface of the Seventh Edition's dbm over libchainhash: one database at a time.
 *
 * See ndbm.h for what is different, and for how to link. dbminit() makes the files if they are not
 * there, as gdbm's does, and opens to read where files may not be written (EACCES, EROFS).
 */
#ifndef CHAINHASH_DBM_H
#define CHAINHASH_DBM_H

#include "ndbm.h" /* datum */

#ifdef __cplusplus
extern "C" {
#endif

#define NULLKEY(key) ((key).dptr == NULL)

/* 0 or -1, and errno says why: also of store() and delete(). Opening closes what was open; if what
 * was stored there could not be written, that is its error, and none is open. */
int dbminit(const char *name);
int dbmclose(void);

datum fetch(datum key);
datum firstkey(void);
datum nextkey(datum key); /* @key is the one handed out last */

int store(datum key, datum content);
#ifndef __cplusplus
int delete (datum key);
#else
}
#endif

#endif
