#!/bin/sh
# Mailboxes as Dovecot keeps them: a file a message, renamed when it is read, its folder listed again.
# about: a mail server marks messages in ten mailboxes as read
# record: --mem 128M --size 64M --ext2-free 48
workload maildir --messages 100,500 --operations 500
