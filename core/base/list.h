/*
 * list.h - doubly linked circular lists, intrusive, with Linux's names.
 *
 * A list head is a struct list_head that belongs to no object; an object that can be on the list
 * embeds a struct list_head and is found again with list_entry(). No locking here.
 */
#pragma once

#include "core/base/types.h"

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name) {&(name), &(name)}
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list->prev = list;
}

/* Insert @new right after @head (a stack: last in is first). */
static inline void list_add(struct list_head *new, struct list_head *head)
{
	new->next = head->next;
	new->prev = head;
	head->next->prev = new;
	head->next = new;
}

/* Insert @new right before @head (a queue: first in is first). */
static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	list_add(new, head->prev);
}

/* Remove @entry; it is not reinitialised and must not be tested with list_empty() afterwards. */
static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	entry->next = entry->prev = NULL;
}

/* Remove @entry and leave it an empty list of its own, so list_empty(entry) says "not queued". */
static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_next_entry(pos, member) list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_for_each_entry(pos, head, member)                                                     \
	for (pos = list_first_entry(head, __typeof__(*pos), member); &pos->member != (head);       \
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)                                             \
	for (pos = list_first_entry(head, __typeof__(*pos), member),                               \
	    n = list_next_entry(pos, member);                                                      \
	     &pos->member != (head); pos = n, n = list_next_entry(n, member))
