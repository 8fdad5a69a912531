/*
 * page.c — the pages of this machine, and writing those of a map to disk. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/page.h"
#include "base/descriptor.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
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

#ifdef __linux__

/* Documentation/admin-guide/mm/pagemap.rst: 64 bits for each page of the address space. */
#define PAGEMAP "/proc/self/pagemap"
#define IS_PRESENT (UINT64_C(1) << 63)

static bool has_filter(void) { return prctl(PR_GET_SECCOMP) != 0; }

/* True if all pages of that part are in the page table of this process. */
static bool are_mapped(const uint8_t *at, size_t bytes) {
    uint64_t pages[PAGES_AT_ONCE];
    size_t page = lard_page_bytes(), left = (bytes + page - 1) / page, got = 0;
    uint64_t from = (uintptr_t)at / page * sizeof *pages;
    int fd = open(PAGEMAP, O_RDONLY | O_CLOEXEC);
    bool are = fd >= 0, is_kernels = false;
    while (are && left > 0) {
        size_t count = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE, wanted = count * sizeof *pages;
        are = lard_io_read(fd, pages, wanted, from, &got) == 0 && got == wanted;
        for (size_t i = 0; are && i < count; i++) {
            are = pages[i] & IS_PRESENT;
        }
        from += wanted;
        left -= count;
    }
    return fd >= 0 && lard_descriptor_close_read(fd, PAGEMAP, &is_kernels) == 0 && is_kernels && are;
}

#endif

bool lard_page_is_in_memory(uint8_t *at, size_t bytes) {
    unsigned char pages[PAGES_AT_ONCE];
    size_t at_once = PAGES_AT_ONCE * lard_page_bytes();
#ifdef __linux__
    if (has_filter()) {
        return are_mapped(at, bytes);
    }
#endif
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
