/*
 * beside.c - a file is written while others read its blocks from the raw device: what was written is
 * in the file. As root, in a directory on the first virtio disk. Prints how many rounds went wrong.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 65536, READERS = 2, ROUNDS = 400 };
static char written[BYTES], found[BYTES];

int main(void)
{
	int device = open("/dev/vda", O_RDONLY), file = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600);
	pid_t readers[READERS];
	int wrong = 0;
	off_t at = 0;

	for (int i = 0; i < BYTES; i += 8)
		memcpy(written + i, "findthis", 8);
	if (device < 0 || write(file, written, BYTES) != BYTES || fsync(file))
		return 1;
	while (pread(device, found, 4096, at) == 4096 && memcmp(found, written, 8))
		at += 4096;
	close(file);
	for (int i = 0; i < READERS; i++) {
		readers[i] = fork();
		while (!readers[i])
			pread(device, found, BYTES, at);
	}
	for (int round = 0; round < ROUNDS; round++) {
		memset(written, 'A' + round % 26, BYTES);
		file = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600);
		if (write(file, written, BYTES) != BYTES || (round % 4 == 0 && fsync(file)))
			return 1;
		usleep(2000);
		wrong += pread(file, found, BYTES, 0) != BYTES || memcmp(found, written, BYTES);
		close(file);
	}
	for (int i = 0; i < READERS; i++)
		kill(readers[i], SIGKILL);
	printf("wrong: %d\n", wrong);
	return 0;
}
