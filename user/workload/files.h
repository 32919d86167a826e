/* files.h - a set of files whose names and sizes follow from their numbers, so that millions need
 * no memory. */
#pragma once

#include "workload.h"

enum name_style { NAMES_SHORT, NAMES_LONG, NAMES_NUMBERED, NAMES_MAIL, NAMES_HASH };
#define NAME_STYLES "short|long|numbered|mail|hash"

enum { PATH_LENGTH = 512, BLOCK = 8192 };

/* Files in the lowest folders of a tree: `depth` levels, `width` folders in each. */
struct file_set {
	uint64_t files, depth, width, size_mean, links_percent;
	int style;
};

/* Folders of the lowest level. */
uint64_t set_leaves(const struct file_set *set);

/* The name of number @number in a style, without a folder; different numbers have different names.
 */
void style_name(char *name, size_t room, enum name_style style, uint64_t number);

/* The path of lowest folder @leaf, with a slash behind it; empty for a set without depth. */
void leaf_path(const struct file_set *set, uint64_t leaf, char path[PATH_LENGTH]);

/* The path of file @number: file n is in lowest folder n modulo their number. */
void set_path(const struct file_set *set, uint64_t number, char path[PATH_LENGTH]);

/* Is file @number a symbolic link (to the one before it in its folder)? */
int set_is_link(const struct file_set *set, uint64_t number);

/* Bytes of file @number. */
uint64_t set_size(const struct file_set *set, uint64_t number);

/* Make the folders and files in the current folder; each file is one of progress. Ends on an error.
 */
void set_create(const struct file_set *set);

/* Make a file of @size bytes. */
void make_file(const char *path, uint64_t size);

/* Make the folder @folder of @count empty files with a style's names, or end. */
void make_entries(const char *folder, uint64_t count, enum name_style names);

/* Remove @path and all below it, unless files are to stay (--keep); or end. */
void remove_folder(const char *path);
