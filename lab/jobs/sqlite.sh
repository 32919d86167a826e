#!/bin/bash
# sqlite3 with a write-ahead log: 100,000 inserts, an index, updates, two readers and two writers, integrity_check.
# packages: bash coreutils sqlite3
# ignore: */base.db*
. "${0%/*}/common.sh"
{
	echo 'PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;'
	echo 'CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value INTEGER);'
	for part in 0 1 2 3; do
		echo "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 25000)"
		echo "INSERT INTO t SELECT $part*25000+i, 'name ' || (i * 7919 % 10007), i * i % 1000003 FROM n; COMMIT;"
	done
	echo 'CREATE INDEX by_name ON t(name);'
} | sqlite3 base.db
(for n in $(seq 1 20); do sqlite3 -cmd '.timeout 60000' base.db "UPDATE t SET value = value + 1 WHERE id % 20 = $n - 1;"; done) &
(for n in $(seq 1 20); do sqlite3 -cmd '.timeout 60000' base.db "UPDATE t SET value = value + 1000000 WHERE id % 20 = 20 - $n;"; done) &
for n in 1 2; do (for i in $(seq 1 10); do sqlite3 -cmd '.timeout 60000' base.db 'SELECT count(*) FROM t;'; done | sort -u > seen.$n) & done
wait
cat seen.1 seen.2 && rm seen.*
sqlite3 base.db 'PRAGMA integrity_check; SELECT count(*), sum(value), min(name), max(name) FROM t; PRAGMA wal_checkpoint(TRUNCATE);'
sqlite3 base.db 'DELETE FROM t WHERE id % 3 = 0; VACUUM; PRAGMA integrity_check; SELECT count(*) FROM t;'
sqlite3 base.db .dump | sha256sum
sqlite3 roll.db 'PRAGMA journal_mode=DELETE; CREATE TABLE a(b); BEGIN; INSERT INTO a VALUES(1); ROLLBACK; SELECT count(*) FROM a;'
ls
