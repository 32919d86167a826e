/*
 * sockets.h - what scenarios of sockets share: names, and what a call made or found, shown.
 */
#pragma once

#include "../scenarios.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/* More than a socket takes; not static, since RLIMIT_DATA counts that in other scenarios, too. */
#define BIG (1 << 20)

extern struct sockaddr_un address;

/* The length of an address, which is put together in @address; "@x" is an abstract name. */
socklen_t named(const char *name);
int bind_to(int fd, const char *name);
int connect_to(int fd, const char *name);
long send_to(int fd, const char *text, const char *name);

int new_socket(int type); /* of AF_UNIX */
int listener(int type, const char *name, int backlog);

void show_name(int (*ask)(int, struct sockaddr *, socklen_t *), int fd);
void show_poll(int fd);
void show_read(int fd);		/* what is there now */
long option(int fd, int which); /* of SOL_SOCKET: an int, or -1 */

/* As they are: the library's copy what they are given. */
long raw_sendmsg(int fd, const struct msghdr *message);
long raw_recvmsg(int fd, struct msghdr *message);

/* Count in signals, from 0, how often @signo comes. */
extern volatile int signals;
void catch_signal(int signo);
