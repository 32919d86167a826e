/* system.c - the text's systems by name, their options as text, and the checks that all share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

const struct system *const text_systems[] = {
	&dbm_system,	 &ndbm_system,	   &sdbm_system, &gdbm_system,
	&hsearch_system, &dynahash_system, NULL,
};

const struct system *system_named(const char *name)
{
	for (size_t i = 0; text_systems[i]; i++)
		if (!strcmp(text_systems[i]->name, name))
			return text_systems[i];
	return NULL;
}

int system_option(const struct system *system, const char *name)
{
	const struct option_rule *rules = system->options;

	for (int i = 0; rules && rules[i].name; i++)
		if (!strcmp(rules[i].name, name))
			return i;
	return -1;
}

/* What may stand behind the name of @rule, for a message. */
static void tell_range(const struct option_rule *rule, char *message, size_t room)
{
	size_t used = (size_t)snprintf(message, room, "%s is ", rule->name);

	if (!rule->words) {
		snprintf(message + used, room - used, "%llu to %llu",
			 (unsigned long long)rule->least, (unsigned long long)rule->most);
		return;
	}
	for (size_t i = 0; rule->words[i] && used < room; i++)
		used += (size_t)snprintf(message + used, room - used, "%s%s", i ? "|" : "",
					 rule->words[i]);
}

static int option_value(const struct option_rule *rule, const char *text, uint64_t *value)
{
	char *end;

	if (rule->words) {
		for (uint64_t i = 0; rule->words[i]; i++) {
			if (!strcmp(rule->words[i], text)) {
				*value = i;
				return 0;
			}
		}
		return -EINVAL;
	}
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *end || *value < rule->least || *value > rule->most)
		return -EINVAL;
	return 0;
}

static int set_option(const struct system *system, char *setting, uint64_t *values, char *message,
		      size_t room)
{
	char *value = strchr(setting, '=');
	int place;

	if (!value) {
		snprintf(message, room, "'%s': an option is NAME=VALUE", setting);
		return -EINVAL;
	}
	*value++ = '\0';
	place = system_option(system, setting);
	if (place < 0) {
		snprintf(message, room, "%s has no option '%s'", system->name, setting);
		return -EINVAL;
	}
	if (option_value(&system->options[place], value, &values[place])) {
		tell_range(&system->options[place], message, room);
		return -EINVAL;
	}
	return 0;
}

int system_options(const struct system *system, const char *text, uint64_t *values, char *message,
		   size_t room)
{
	const struct option_rule *rules = system->options;
	char *copy, *rest, *setting;
	int error = 0;

	for (int i = 0; rules && rules[i].name; i++)
		values[i] = rules[i].usual;
	if (!text || !*text)
		return 0;
	rest = copy = strdup(text);
	if (!copy) {
		snprintf(message, room, "no memory");
		return -ENOMEM;
	}
	while (!error && (setting = strsep(&rest, ",")))
		error = set_option(system, setting, values, message, room);
	free(copy);
	return error;
}

int table_open(const struct system *system, struct table **made, const char *path, unsigned flags,
	       const uint64_t *values)
{
	int error;

	if (!(system->traits & (path ? SYSTEM_DISK : SYSTEM_MEMORY)))
		return -EINVAL;
	if ((flags & TABLE_CREATE) && (flags & TABLE_READ_ONLY))
		return -EINVAL;
	error = system->open(made, path, flags, values);
	if (error)
		return error;
	(*made)->system = system;
	(*made)->flags = flags;
	return 0;
}

int table_attach(struct table *table, struct table **made)
{
	int error;

	if (!table->system->attach)
		return -EOPNOTSUPP;
	error = table->system->attach(table, made);
	if (error)
		return error;
	(*made)->system = table->system;
	(*made)->flags = table->flags;
	return 0;
}

int table_get(struct table *table, struct item key, struct item *data)
{
	return table->system->get(table, key, data);
}

int table_put(struct table *table, struct item key, struct item data, bool replace)
{
	if (table->flags & TABLE_READ_ONLY)
		return -EROFS;
	return table->system->put(table, key, data, replace);
}

int table_remove(struct table *table, struct item key)
{
	if (!table->system->remove)
		return -EOPNOTSUPP;
	if (table->flags & TABLE_READ_ONLY)
		return -EROFS;
	return table->system->remove(table, key);
}

int table_scan(struct table *table, struct cursor *cursor, struct item *key, struct item *data)
{
	if (!table->system->scan)
		return -EOPNOTSUPP;
	return table->system->scan(table, cursor, key, data);
}

int table_pause(struct table *table)
{
	return table->system->pause ? table->system->pause(table) : 0;
}

int table_sync(struct table *table)
{
	return table->system->sync ? table->system->sync(table) : 0;
}

int table_close(struct table *table)
{
	return table->system->close(table);
}
