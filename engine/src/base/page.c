/*
 * page.c — the pages of this machine, and writing those of a map to disk. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/page.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define PAGES_AT_ONCE 256u

size_t lard_page_bytes(void) {
    long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

/* msync accepts only an address that is a multiple of the page size, and syncs whole pages. */
int lard_page_sync(uint8_t *base, size_t from, size_t bytes) {
    size_t before = from & (lard_page_bytes() - 1);
    return msync(base + (from - before), bytes + before, MS_SYNC) == 0 ? 0 : errno;
}

static bool may_ask(void) {
#ifdef __linux__
    return prctl(PR_GET_SECCOMP) == 0;
#else
    return true;
#endif
}

bool lard_page_is_in_memory(uint8_t *at, size_t bytes) {
    unsigned char pages[PAGES_AT_ONCE];
    size_t at_once = PAGES_AT_ONCE * lard_page_bytes();
    if (!may_ask()) {
        return false;
    }
    for (size_t from = 0; from < bytes; from += at_once) {
        memset(pages, 1, sizeof pages);
        if (mincore(at + from, bytes - from < at_once ? bytes - from : at_once, pages) != 0) {
            return false;
        }
        for (unsigned i = 0; i < PAGES_AT_ONCE; i++) {
            if (!(pages[i] & 1)) {
                return false;
            }
        }
    }
    return true;
}
