/* entries.c - lab 6: nothing of direct lookup's own. */
