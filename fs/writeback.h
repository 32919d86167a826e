/*
 * writeback.h - the write-back thread: what is dirty goes to the disk, every 30 s and when memory
 * is short (hurry_writeback(), fs/block/dirty.h).
 */
#pragma once

void writeback_start(void); /* at start-up, once there are threads */
void writeback_once(void);  /* one round of it; sleeps */
