#!/bin/bash
# python3 compiles a part of its own library, copied, and runs its own tests of os, shutil, tempfile and glob.
# packages: bash coreutils findutils grep sed python3 libpython3.11-testsuite
# settings: XATTR=y EVENTS=y SOCKETS=y MREMAP=y RARE_CALLS=y
# Not those of splice, which is not there, nor TestSendfile, whose servers need a network: without one it fails on Linux, too
# (to connect), where Chainwalk has no AF_INET at all, and asyncio's log of that comes between a test's name and "ERROR".
. "${0%/*}/common.sh"
cp -r /usr/lib/python3.11 library && rm -rf library/test library/lib-dynload
PYTHONHASHSEED=0 python3 -W ignore -m compileall -q -j 1 --invalidation-mode checked-hash library/{asyncio,email,encodings,importlib,json} && find library -name '*.pyc' | wc -l
find library -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum | sha256sum
rm -rf library
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 TMPDIR=$work
for tests in ${PYTHON_TESTS:-test_glob test_tempfile test_shutil test_os}; do
	python3 -m test -v -i 'test_splice*' -i TestSendfile $tests > log 2>&1 || true
	grep -E '^test_.* \.\.\. (ok|FAIL|ERROR|skipped)' log | sed -E 's/ \(.*\.\.\. / ... /' | sort | uniq -c
	grep -E '^(Ran|OK|FAILED)' log | sed 's/ in .*//'
done
