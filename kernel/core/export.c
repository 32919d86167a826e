/*
 * export.c - framing of the control port's records (export.h). Text formatting only: the port
 * itself is behind `control_output`, so this file compiles hosted too.
 *
 * export_lock keeps a record, and the chunks of a long one, together.
 */
#include "kernel/core/export.h"
#include "kernel/core/kernel.h"

#define RECORD_MAX 4000	 /* bytes of JSON in one record */
#define CHUNK_BYTES 1500 /* of a long JSON, before escaping */

static DEFINE_SPINLOCK(export_lock);
static u32 sequence;

static void no_output(const char *text, size_t length)
{
	(void)text;
	(void)length;
}

void (*control_output)(const char *text, size_t length) = no_output;

u32 crc32(u32 crc, const void *data, size_t n)
{
	crc = ~crc;
	for (const u8 *p = data; n; n--, p++) {
		crc ^= *p;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

size_t json_escape(char *buffer, size_t size, const char *text, size_t length)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (; length && used + 7 < size; length--, text++) {
		u8 c = (u8)*text;
		bool plain = c >= ' ' && c < 0x7f;
		const char *format = c == '"' || c == '\\' ? "\\%c" : plain ? "%c" : "\\u%04x";

		used += (size_t)scnprintf(buffer + used, size - used, format, c);
	}
	return used;
}

/* Under export_lock. */
static void put_record(const char *type, const char *json, size_t length)
{
	char head[80];

	control_output(head, (size_t)scnprintf(head, sizeof(head), "@CW %u %zu %08x %s ", sequence++,
					       length, crc32(0, json, length), type));
	control_output(json, length);
	control_output("\n", 1);
}

void control_record(const char *type, const char *json, size_t length)
{
	static char escaped[2 * CHUNK_BYTES + 8], record[2 * CHUNK_BYTES + 128];
	unsigned parts = (unsigned)DIV_ROUND_UP(length, CHUNK_BYTES);

	guard(spinlock_irqsave, &export_lock);
	if (length <= RECORD_MAX) {
		put_record(type, json, length);
		return;
	}
	for (unsigned part = 0; part < parts; part++) {
		size_t n = min_t(size_t, length - part * CHUNK_BYTES, CHUNK_BYTES);

		json_escape(escaped, sizeof(escaped), json + part * CHUNK_BYTES, n);
		put_record("chunk", record,
			   (size_t)scnprintf(record, sizeof(record),
					     "{\"type\":\"%s\",\"part\":%u,\"of\":%u,\"data\":\"%s\"}",
					     type, part, parts, escaped));
	}
}

void control_recordf(const char *type, const char *format, ...)
{
	char json[512];
	va_list arguments;

	va_start(arguments, format);
	control_record(type, json, (size_t)vscnprintf(json, sizeof(json), format, arguments));
	va_end(arguments);
}

void control_end(void)
{
	control_recordf("end", "{\"records\":%u}", sequence);
}
