/*
 * export.h - the control port: records for the program that started the machine, on COM2 (0x2f8).
 *
 * One record is one line:
 *
 *	@CW SEQUENCE LENGTH CHECKSUM TYPE JSON\n
 *
 * SEQUENCE counts records from 0, LENGTH is the number of bytes of JSON (which has no newline),
 * CHECKSUM the CRC-32 (IEEE 802.3) of those bytes as eight lower-case hex digits, TYPE a word:
 * `exit`, `panic`, `stats`, `mark`, `call`, `result`, `signal`, `exited`, `end`. The last
 * record of an orderly run is `end` with {"records":N}: a reader that finds a gap, a bad checksum or
 * no `end` knows that something is missing.
 * docs/kernel/control-port.md is the reference.
 */
#pragma once

/* One record of @type. @json: one JSON value without newlines. Any context. */
void control_record(const char *type, const char *json, size_t length);
void control_recordf(const char *type, const char *format, ...) __printf(2, 3);
/* The last record. */
void control_end(void);

/* Escape @text into a JSON string's inside; returns the length, cut to whole escapes. */
size_t json_escape(char *buffer, size_t size, const char *text, size_t length);
