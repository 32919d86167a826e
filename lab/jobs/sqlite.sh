#!/bin/sh
# sqlite.sh - a data base with a write-ahead log: many inserts in one transaction, some alone, an index, the check.
# packages: sqlite3
# ignore: */data-shm
# ROWS in the environment: how many (default 20000).
set -e
sqlite3 data <<END
pragma journal_mode = wal;
create table t(a integer primary key, b text);
begin;
with recursive c(x) as (select 1 union all select x + 1 from c where x < ${ROWS:-20000})
insert into t select x, hex(x * 7) from c;
commit;
create index i on t(b);
select count(*), sum(a), max(b) from t;
pragma integrity_check;
END
for row in 1 2 3 4 5 6 7 8 9 10; do
	sqlite3 data "insert into t(b) values('x$row'); select count(*) from t"
done
sqlite3 data 'delete from t where a % 3 = 0; vacuum; pragma wal_checkpoint(truncate); pragma integrity_check'
