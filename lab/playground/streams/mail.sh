#!/bin/sh
# Mail: maildrop sorts messages into mailboxes (Maildirs: a file a message), notmuch indexes them, finds some, and
# marks them as read, which renames their files; mblaze lists a mailbox.
# about: maildrop delivers 240 messages into eight mailboxes; notmuch indexes, searches and marks them
# record: --mem 256M --size 64M --ext2-free 64 --package maildrop --package notmuch --package mblaze
export HOME=/root
cd /root || exit 1
lists="kernel linkers filesystems compilers schedulers drivers teaching"
mkdir Mail .mblaze && maildirmake Mail/inbox || exit 1
for list in $lists; do
	maildirmake "Mail/$list" || exit 1
	printf 'if (/^List-Id: <%s>/)\n\tto "Mail/%s"\n' "$list" "$list" >> .mailfilter
done
echo 'to "Mail/inbox"' >> .mailfilter
chmod 600 .mailfilter
cat > .notmuch-config <<'N'
[database]
path=/root/Mail
[user]
name=Reader
primary_email=reader@example.org
[new]
tags=unread;inbox
N
# Thirty messages, to each list in turn.
deliver() {
	for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		set -- $lists none # what is none's goes to the inbox
		shift $((number % 8))
		printf 'From: writer%d@example.org\nTo: %s@example.org\nSubject: Message %d of round %d\nMessage-ID: <%d.%d@example.org>\nDate: Mon, 1 Jan 2024 00:%d:%d +0000\nList-Id: <%s>\n\nOn %s, part %d, round %d: what do you think of it?\n' \
			$((number % 5)) "$1" "$number" "$round" "$number" "$round" $((10 + round)) $((10 + number)) "$1" "$1" "$number" "$round" | maildrop || exit 1
	done
}
for round in 1 2 3 4 5 6 7 8; do
	deliver
	notmuch new
	notmuch search "subject:round and to:kernel and tag:unread" | wc -l
	notmuch tag -unread "tag:unread and from:writer$((round % 5))" || exit 1
	mlist Mail/kernel | mseq -S && mscan | wc -l
done
notmuch count
