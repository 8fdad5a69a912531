/*
 * io.h — reads and writes a part of a file as a whole.
 */
#ifndef LARD_IO_H
#define LARD_IO_H

#include <stddef.h>
#include <stdint.h>

int lard_io_write(int fd, const void *data, size_t bytes, uint64_t at); /* all of it: 0, or errno */
/* Up to the file's end: 0, or errno. */
int lard_io_read(int fd, void *out, size_t bytes, uint64_t at, size_t *got);

#endif
