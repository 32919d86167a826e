/*
 * printk.h - the kernel's log: a ring of the last 64 KB of messages, and those that matter on the
 * console.
 *
 * A message is a line (or several); its level stands at its front as in Linux (KERN_INFO "...").
 * Each line in the ring is
 * "<level>[seconds.microseconds] text\n". `quiet` on the command line keeps all but KERN_ERR and
 * worse off the console; `loglevel=N` chooses: levels below N are printed.
 *
 * Any context, interrupts and NMIs after a panic included; never sleeps, never allocates.
 */
#pragma once

#include "core/log/assert.h"

#define KERN_EMERG "<0>"
#define KERN_ERR "<3>"
#define KERN_WARNING "<4>"
#define KERN_INFO "<6>"
#define KERN_DEBUG "<7>"

void printk(const char *format, ...) __printf(1, 2);

#define pr_err(...) printk(KERN_ERR __VA_ARGS__)
#define pr_warn(...) printk(KERN_WARNING __VA_ARGS__)
#define pr_info(...) printk(KERN_INFO __VA_ARGS__)
/* in the ring; on the console with loglevel=8 */
#define pr_debug(...) printk(KERN_DEBUG __VA_ARGS__)

#define pr_warn_once(...)                                                                          \
	({                                                                                         \
		static bool _warned;                                                               \
		if (!xchg(&_warned, true))                                                         \
			pr_warn("WARNING: " __VA_ARGS__);                                          \
	})

/*
 * Text straight to the console, not to the log, whatever the level: reports for the person at the
 * console, and the terminal's. Not interleaved with other writers. AS_LINES: \n becomes \r\n.
 */
enum console_text { AS_IT_IS, AS_LINES };
void console_write(const char *text, size_t length, enum console_text kind);

/*
 * Copy log text from position @position (0: the oldest kept) into buffer[0..size), whole lines
 * only; moves *position past them. Returns the bytes copied, 0 at the end. A position that was
 * overwritten moves on to the oldest line.
 */
size_t log_read(u64 *position, char *buffer, size_t size);
extern u64 log_complete; /* position after the last line */
#define LOG_SIZE 65536

/* Messages of levels below @level go to the console: all, from LOG_LEVELS on. */
#define LOG_LEVELS 8
void printk_set_level(u64 level);
