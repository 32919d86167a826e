/*
 * look.c - an inotify's events as text. See notify.h.
 */
#include "notify.h"

static const struct {
	uint32_t bit;
	const char *name;
} kinds[] = {
	{IN_ACCESS, "access"},
	{IN_MODIFY, "modify"},
	{IN_ATTRIB, "attrib"},
	{IN_CLOSE_WRITE, "close_write"},
	{IN_CLOSE_NOWRITE, "close_nowrite"},
	{IN_OPEN, "open"},
	{IN_MOVED_FROM, "from"},
	{IN_MOVED_TO, "to"},
	{IN_CREATE, "create"},
	{IN_DELETE, "delete"},
	{IN_DELETE_SELF, "delete_self"},
	{IN_MOVE_SELF, "move_self"},
	{IN_UNMOUNT, "unmount"},
	{IN_Q_OVERFLOW, "overflow"},
	{IN_IGNORED, "ignored"},
	{IN_ISDIR, "dir"},
};

#define COOKIES 16

static uint32_t cookies[COOKIES];
static unsigned cookie_count;

static unsigned number_of(uint32_t cookie)
{
	unsigned i = 0;

	while (i < cookie_count && cookies[i] != cookie)
		i++;
	if (i == cookie_count && i < COOKIES)
		cookies[cookie_count++] = cookie;
	return i + 1;
}

static void show_event(const struct inotify_event *event)
{
	uint32_t rest = event->mask;

	printf(" %d", event->wd);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (event->mask & kinds[i].bit) {
			printf("|%s", kinds[i].name);
			rest &= ~kinds[i].bit;
		}
	if (rest)
		printf("|%x", rest);
	if (event->cookie)
		printf("#%u", number_of(event->cookie));
	if (event->len)
		printf(":%s/%u", event->name, event->len);
}

void look(int fd)
{
	char buffer[16384] __attribute__((aligned(8)));
	ssize_t n;

	cookie_count = 0;
	printf(" [");
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (char *at = buffer; at < buffer + n;) {
			struct inotify_event *event = (void *)at;

			show_event(event);
			at += sizeof(*event) + event->len;
		}
	printf(" ]");
	fflush(stdout);
}

int notify_queue(void)
{
	return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}
