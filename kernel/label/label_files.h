/*
 * label_files.h - labels as processes have them: /proc/labels, the rules, which root writes; and
 * /proc/PID/attr/current, a process's label, which it writes itself, as root. The labels: fs/label.
 */
#pragma once

/* Before /proc is first mounted. */
void label_files_init(void);
