/*
 * page.c — the pages of this machine, and writing those of a map to disk. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/page.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

size_t lard_page_bytes(void) {
    long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

/* msync accepts only an address that is a multiple of the page size, and syncs whole pages. */
int lard_page_sync(uint8_t *base, size_t from, size_t bytes) {
    size_t before = from & (lard_page_bytes() - 1);
    return msync(base + (from - before), bytes + before, MS_SYNC) == 0 ? 0 : errno;
}
