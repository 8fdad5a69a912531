/*
 * io.h — reads or writes a range of a file completely.
 */
#ifndef LARD_IO_H
#define LARD_IO_H

#include <stddef.h>
#include <stdint.h>

struct iovec;

int lard_io_write(int fd, const void *data, size_t bytes, uint64_t at); /* 0, or errno */
/* The same for parts that follow each other in the file, by one call where the system can. Changes `parts`. */
int lard_io_write_parts(int fd, struct iovec *parts, int count, uint64_t at);
/* 0, or errno. *got is less than `bytes` only at the end of the file. */
int lard_io_read(int fd, void *out, size_t bytes, uint64_t at, size_t *got);

#endif
