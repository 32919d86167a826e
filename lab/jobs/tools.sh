#!/bin/bash
# coreutils, findutils, grep, sed, gawk, tar, gzip and diff on a real tree: perl's library.
# packages: bash coreutils findutils grep sed gawk tar gzip diffutils patch perl-modules-5.36
. "${0%/*}/common.sh"
cp -a /usr/share/perl/5.36.0 one
find one -name '*.pm' | sort | wc -l
find one -type f -size +40k -printf '%s %p\n' | sort -n
grep -rl 'use strict' one | sort | sha256sum
grep -rhoE '\bsub [a-z_]+' one | sort | uniq -c | sort -k1,1nr -k2 | head -20
find one -name '*.pm' -exec sed -n 's/^package \([A-Za-z:]*\);.*/\1/p' {} + | sort -u | sha256sum
find one -name "*.pl" -print0 | sort -z | xargs -0 -n 3 wc -l | tail -3
gawk '{ words += NF; lines++; if (length > longest) longest = length } END { print lines, words, longest }' $(find one -name '*.pod' -o -name '*.pm' | sort | head -200)
find one -type f | sort | gawk -F. '{ kind[$NF]++ } END { n = asorti(kind, names); for (i = 1; i <= n; i++) print names[i], kind[names[i]] }'
tar -cf all.tar --sort=name --mtime=@1000000000 one
sha256sum all.tar
gzip -nk9 all.tar && gzip -l all.tar.gz | tail -1
mkdir two && tar -xzf all.tar.gz -C two
diff -r one two/one && echo 'the same'
sed -i 's/strict/loose/' two/one/CPAN/*.pm
diff -ru one two/one | grep -c '^[-+]' || true
diff -ru one two/one > change.patch || true
sed -i 's/[ \t]*20[0-9][0-9]-.*$//' change.patch
patch -s -d two/one -p1 -R < change.patch && diff -r one two/one && echo 'and back'
mv two/one/CPAN two/CPAN.moved
ln -s ../two/CPAN.moved one/link && ln one/strict.pm one/hard.pm
cp -a one three && rm -r one
chmod -R g-r,o= three/Pod && chown -R user three/Pod
touch -d @1234567890 three/strict.pm && stat -c '%y %h %a' three/strict.pm
du -s --apparent-size three two | cut -f 2
comm -12 <(cd three && find . | sort) <(cd two && find . | sort) | head -5
split -b 100000 all.tar part. && cat part.* | cmp - all.tar && rm part.*
shuf -i 1-20000 --random-source=all.tar > numbers && sort -n numbers | sha256sum && sort -R numbers | wc -l
head -c 100000 all.tar | od -An -tx1 | tr -d ' \n' | fold -w 64 | sha256sum
dd if=all.tar of=odd bs=777 count=99 skip=13 2>&1 | head -2
truncate -s 1234567 odd && stat -c %s odd
mkfifo pipe && (seq 1 50000 > pipe &) && tac pipe | md5sum
tree_of .
