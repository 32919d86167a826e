/*
 * text.c - growing text. See text.h.
 */
#include "core/log/text.h"

#include "core/kernel.h"
#include "core/memory/slab.h"

bool text_reserve(struct text *text, size_t more)
{
	size_t capacity = roundup_pow_of_two(max(text->length + more, (size_t)4096));

	if (text->error || capacity <= text->capacity)
		return !text->error;

	char *data = kmalloc(capacity, GFP_KERNEL);

	if (!data) {
		text->error = -ENOMEM;
		return false;
	}
	if (text->length)
		memcpy(data, text->data, text->length);
	kfree(text->data);
	text->data = data;
	text->capacity = capacity;
	return true;
}

void text_write(struct text *text, const char *bytes, size_t length)
{
	if (!text_reserve(text, length))
		return;
	memcpy(text->data + text->length, bytes, length);
	text->length += length;
}

void text_escaped(struct text *text, const char *string, const char *special)
{
	for (; *string; string++)
		if (strchr(special, *string))
			text_printf(text, "\\%03o", *string);
		else
			text_write(text, string, 1);
}

void text_printf(struct text *text, const char *format, ...)
{
	size_t length = 100; /* at first, what most lines have */

	while (text_reserve(text, length + 1)) { /* the terminator's place as well */
		size_t room = text->capacity - text->length;
		va_list arguments;

		va_start(arguments, format);
		length = (size_t)kernel_vsnprintf(text->data + text->length, room, format,
						  arguments);
		va_end(arguments);
		if (length < room) {
			text->length += length;
			return;
		}
	}
}
