/* list.c - which adapters are in this build, and which are not. */
#include <string.h>

#include "adapters.h"

const struct system *const every_system[] = {
	&dbm_system,
	&ndbm_system,
	&sdbm_system,
	&gdbm_system,
	&hsearch_system,
	&dynahash_system,
#ifdef HAVE_CHAINHASH
	&chainhash_adapter,
#endif
#ifdef HAVE_GDBM_NDBM
	&gdbm_ndbm_adapter,
#endif
#ifdef HAVE_APR_SDBM
	&apr_sdbm_adapter,
#endif
#ifdef HAVE_GDBM
	&gdbm_adapter,
#endif
#ifdef HAVE_BERKELEY
	&berkeley_adapter,
#endif
#ifdef HAVE_TDB
	&tdb_adapter,
#endif
#ifdef HAVE_LMDB
	&lmdb_adapter,
#endif
#ifdef HAVE_TOKYO
	&tokyo_adapter,
#endif
#ifdef HAVE_LIBC_HSEARCH
	&libc_hsearch_adapter,
#endif
	NULL,
};

const char *const absent_systems[] = {
#ifndef HAVE_CHAINHASH
	"chainhash (not in this checkout)",
#endif
#ifndef HAVE_GDBM_NDBM
	"gdbm-ndbm (libgdbm-compat-dev)",
#endif
#ifndef HAVE_APR_SDBM
	"apr-sdbm (libaprutil1-dev)",
#endif
#ifndef HAVE_GDBM
	"libgdbm (libgdbm-dev)",
#endif
#ifndef HAVE_BERKELEY
	"berkeley-db (libdb5.3-dev)",
#endif
#ifndef HAVE_TDB
	"tdb (libtdb-dev)",
#endif
#ifndef HAVE_LMDB
	"lmdb (liblmdb-dev)",
#endif
#ifndef HAVE_TOKYO
	"tokyo-cabinet (libtokyocabinet-dev)",
#endif
#ifndef HAVE_LIBC_HSEARCH
	"libc-hsearch (a C library with hsearch_r)",
#endif
	NULL,
};

const struct system *any_system_named(const char *name)
{
	for (size_t i = 0; every_system[i]; i++)
		if (!strcmp(every_system[i]->name, name))
			return every_system[i];
	return NULL;
}
