/*
 * export.c - framing of the control port's records (export.h). Text formatting only: the port
 * itself is behind `control_output`, so this file compiles hosted too.
 *
 * export_lock keeps a record, and the chunks of a long one, together; after a panic it is not
 * taken.
 */
#include "kernel/core/export.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/string.h"

#define RECORD_MAX 4000	 /* bytes of JSON in one record */
#define CHUNK_BYTES 1500 /* of a long JSON, before escaping */

static DEFINE_SPINLOCK(export_lock);
static u32 sequence;
extern bool panicking;

static void no_output(const char *text, size_t length)
{
	(void)text;
	(void)length;
}

void (*control_output)(const char *text, size_t length) = no_output;

static unsigned long export_begin(void)
{
	unsigned long flags = arch_irq_save();

	if (likely(!panicking))
		spin_lock(&export_lock);
	return flags;
}

static void export_finish(unsigned long flags)
{
	if (likely(!panicking))
		spin_unlock(&export_lock);
	arch_irq_restore(flags);
}

void control_write(const char *text, size_t length)
{
	unsigned long flags = export_begin();

	control_output(text, length);
	export_finish(flags);
}

u32 crc32(u32 crc, const void *data, size_t n)
{
	static const u32 table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const u8 *p = data;

	crc = ~crc;
	for (; n; n--, p++) {
		crc = table[(crc ^ *p) & 15] ^ crc >> 4;
		crc = table[(crc ^ *p >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}

size_t json_escape(char *buffer, size_t size, const char *text, size_t length)
{
	size_t used = 0;

	for (; length; length--, text++) {
		char piece[8];
		u8 c = (u8)*text;
		size_t n;

		if (c == '"' || c == '\\')
			n = (size_t)scnprintf(piece, sizeof(piece), "\\%c", c);
		else if (c == '\n')
			n = (size_t)scnprintf(piece, sizeof(piece), "\\n");
		else if (c < ' ' || c >= 0x7f)
			n = (size_t)scnprintf(piece, sizeof(piece), "\\u%04x", c);
		else
			n = (size_t)scnprintf(piece, sizeof(piece), "%c", c);
		if (used + n >= size)
			break;
		memcpy(buffer + used, piece, n);
		used += n;
	}
	if (size)
		buffer[used] = '\0';
	return used;
}

/* Under export_lock. */
static void put_record(const char *type, const char *json, size_t length)
{
	char head[80];
	int n = scnprintf(head, sizeof(head), "@CW %u %zu %08x %s ", sequence++, length,
			  crc32(0, json, length), type);

	control_output(head, (size_t)n);
	control_output(json, length);
	control_output("\n", 1);
}

/* Under export_lock, which guards the buffers. */
static void put_chunks(const char *type, const char *json, size_t length)
{
	static char escaped[2 * CHUNK_BYTES + 8], record[2 * CHUNK_BYTES + 128];
	unsigned parts = (unsigned)DIV_ROUND_UP(length, CHUNK_BYTES), part;

	for (part = 0; part < parts; part++) {
		size_t n = min_t(size_t, length, CHUNK_BYTES);
		int size;

		json_escape(escaped, sizeof(escaped), json, n);
		size = scnprintf(record, sizeof(record),
				 "{\"type\":\"%s\",\"part\":%u,\"of\":%u,\"data\":\"%s\"}", type,
				 part, parts, escaped);
		put_record("chunk", record, (size_t)size);
		json += n;
		length -= n;
	}
}

void control_record(const char *type, const char *json, size_t length)
{
	unsigned long flags = export_begin();

	if (length <= RECORD_MAX)
		put_record(type, json, length);
	else
		put_chunks(type, json, length);
	export_finish(flags);
}

void control_recordf(const char *type, const char *format, ...)
{
	char json[512];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vscnprintf(json, sizeof(json), format, arguments);
	va_end(arguments);
	control_record(type, json, (size_t)length);
}

void control_end(void)
{
	control_recordf("end", "{\"records\":%u}", sequence);
}
