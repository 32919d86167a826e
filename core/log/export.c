/*
 * export.c - framing of the control port's records (export.h). Text formatting only: the port
 * itself is behind log_port_write(), so this file compiles hosted too.
 *
 * export_lock keeps a record together.
 */
#include "core/kernel.h"
#include "core/log/port.h"

static DEFINE_SPINLOCK(export_lock);
static u32 sequence;

/* IEEE 802.3. */
static u32 crc32(const char *data, size_t n)
{
	u32 crc = ~0u;

	for (; n; n--, data++) {
		crc ^= (u8)*data;
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
		const char *format = "%c";

		if (c == '"' || c == '\\')
			format = "\\%c";
		else if (c < ' ' || c >= 0x7f)
			format = "\\u%04x";
		used += (size_t)scnprintf(buffer + used, size - used, format, c);
	}
	return used;
}

void control_record(const char *type, const char *json, size_t length)
{
	char head[80];

	guard(spinlock_irqsave, &export_lock);
	log_port_write(CONTROL, head,
		     (size_t)scnprintf(head, sizeof(head), "@CW %u %zu %08x %s ", sequence++,
				       length, crc32(json, length), type));
	log_port_write(CONTROL, json, length);
	log_port_write(CONTROL, "\n", 1);
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
