/*
 * page.h — the pages of this machine, and writing those of a map to disk.
 */
#ifndef LARD_PAGE_H
#define LARD_PAGE_H

#include <stddef.h>
#include <stdint.h>

size_t lard_page_bytes(void); /* of this machine: 4, 16 or 64 KiB; pages of the file's format have 4,096 */
int lard_page_sync(uint8_t *base, size_t from, size_t bytes); /* writes that part of a map to disk: 0, or errno */

#endif
