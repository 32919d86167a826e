#!/bin/sh
# Mailboxes as Dovecot keeps them: a file a message, renamed when it is read, its folder listed again.
# about: our own load in the manner of a mail server: it marks messages in ten mailboxes as read
# record: --mem 128M --size 64M --ext2-free 48
workload maildir --messages 100,500 --operations 500
