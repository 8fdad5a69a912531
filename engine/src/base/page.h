/*
 * page.h — the pages of this machine, and writing those of a map to disk.
 */
#ifndef LARD_PAGE_H
#define LARD_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t lard_page_bytes(void); /* of this machine: 4, 16 or 64 KiB; pages of the file's format have 4,096 */
int lard_page_sync(uint8_t *base, size_t from, size_t bytes); /* writes that part of a map to disk: 0, or errno */
/* True if all pages of that part of a map are in memory; `at` is where a page begins. Also false if that is
 * unknown. A process with a filter of system calls does not call mincore(2), because the filters of systemd kill
 * for it: there a page is known to be in memory if this process has used it. */
bool lard_page_is_in_memory(uint8_t *at, size_t bytes);

#endif
