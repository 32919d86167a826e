/*
 * signature.h - the signature of a path: what the table of paths knows of its text.
 *
 * The text is the canonical path, each component with a slash behind it: "" is the root, "a/b/"
 * what lies two below. No byte of it is NUL, so that it can be read as words of 64 bits, zeros
 * behind its end, and two paths never have the same words: "ab/c/" is not "abc/".
 *
 * It goes on from any place: a directory's signature has all that is needed for the signatures of
 * what lies below it, even in the middle of a word. Nothing is kept of the directory's own text.
 *
 * Of a signature some bits are compared, SIGNATURE_BITS of them, and others are the index of a
 * bucket. By which function is a choice, PATH_SIGNATURE; each is a header and a file of
 * fs/path/signature:
 *
 * multilinear: 257 bits by one sum; two texts agree by chance alone, as long as nobody sees one.
 * aes: 256 bits by AES instructions, of which nothing can be learned even by who sees them.
 * siphash: the same by shifts and additions.
 * text: 64 bits, and the names of the place that was found are compared with the text.
 *
 * Each header has: struct signature, with a member `length`, bytes of the text;
 * signature_index(), the bits that choose a bucket; signatures_differ(), do the bits differ that
 * are compared? signature_top(), the word with the uppermost of these; text_leads_to(), see below,
 * true where nobody needs to ask.
 */
#pragma once

#include "core/kernel.h"
#include "fs/path/lockless/component.h"

/* Bytes of the longest canonical path from which a lookup goes on, and of the longest text. */
#define SIGNATURE_START_MAX 1024
#define SIGNATURE_MAX (SIGNATURE_START_MAX + PATH_MAX)

#include CONFIG_PATH_SIGNATURE_HEADER

extern struct signature signature_of_root;

/*
 * *@sum: the signature of @text below the directory whose signature is *@directory, which may be
 * the same place in memory. The text begins with no slash and has eight readable bytes behind its
 * end. It counts as it stands: whoever keeps what comes out sees to it that it is canonical. Does
 * not sleep; in no interrupt.
 */
void signature_below(struct signature *sum, const struct signature *directory, const char *text);

/* At boot: the keys are drawn. */
void signature_init(void);
