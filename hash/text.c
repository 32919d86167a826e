/*
 * text.c - growing text. See text.h.
 */
#include "hash/text.h"

#include "hash/memory.h"
#include "kernel/core/errno.h"
#include "kernel/core/string.h"

#define FIRST_CAPACITY 4096

void text_init(struct text *text)
{
	*text = (struct text){.data = NULL};
}

void text_init_sink(struct text *text, char *buffer, size_t size,
		    void (*sink)(const char *text, size_t length))
{
	*text = (struct text){.data = buffer, .capacity = size, .sink = sink};
}

void text_reset(struct text *text)
{
	text->length = 0;
	text->error = 0;
}

void text_flush(struct text *text)
{
	if (text->sink && text->length)
		text->sink(text->data, text->length);
	text->length = 0;
}

void text_free(struct text *text)
{
	kfree(text->data);
	text_init(text);
}

/* Room for @more bytes; false: there is no memory for them. */
static bool make_room(struct text *text, size_t more)
{
	size_t capacity = max(text->capacity, (size_t)FIRST_CAPACITY);
	char *data;

	if (text->length + more <= text->capacity)
		return true;
	if (text->sink) {
		text_flush(text);
		return more <= text->capacity;
	}
	while (capacity < text->length + more)
		capacity *= 2;
	data = kmalloc(capacity, HASH_GFP_KERNEL);
	if (!data)
		return false;
	memcpy(data, text->data, text->length);
	kfree(text->data);
	text->data = data;
	text->capacity = capacity;
	return true;
}

void text_write(struct text *text, const char *bytes, size_t length)
{
	if (text->error)
		return;
	if (!make_room(text, length)) {
		text->error = -ENOMEM;
		return;
	}
	memcpy(text->data + text->length, bytes, length);
	text->length += length;
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list arguments, again;
	size_t room = text->capacity - text->length;
	int length;

	if (text->error)
		return;
	va_start(arguments, format);
	va_copy(again, arguments);
	length = kernel_vsnprintf(room ? text->data + text->length : NULL, room, format, arguments);
	va_end(arguments);
	if ((size_t)length >= room) {
		if (make_room(text, (size_t)length + 1)) /* the terminator's place as well */
			kernel_vsnprintf(text->data + text->length, (size_t)length + 1, format,
					 again);
		else
			text->error = -ENOMEM;
	}
	if (!text->error)
		text->length += (size_t)length;
	va_end(again);
}

int text_error(const struct text *text)
{
	return text->error;
}
