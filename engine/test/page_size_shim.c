/*
 * page_size_shim.c — simulates a machine with pages of LARDER_PAGE_BYTES (16384, 65536), as a preloaded library.
 *
 * sysconf returns that size, and maps begin at a multiple of it. Calls that such a machine refuses are refused:
 * those with an offset, or an address of munmap, mprotect, madvise, msync or a fixed map, that is not a multiple.
 * Beyond the last page of a file such a machine shows zeros, as this one does for its own pages.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap64(void *at, size_t bytes, int may, int flags, int fd, off_t offset);

static size_t page_bytes(void) {
    static size_t known;
    if (!known) {
        const char *text = getenv("LARDER_PAGE_BYTES");
        known = text ? strtoul(text, NULL, 10) : 65536;
    }
    return known;
}

static size_t whole_pages(size_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }

static int is_aligned(const void *at) { return ((uintptr_t)at & (page_bytes() - 1)) == 0; }

static int refuse(void) {
    errno = EINVAL;
    return -1;
}

long sysconf(int name) {
    static long (*real)(int);
    if (name == _SC_PAGESIZE) {
        return (long)page_bytes();
    }
    if (!real) {
        real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    }
    return real(name);
}

int getpagesize(void) { return (int)page_bytes(); }

static void *map(void *at, size_t bytes, int may, int flags, int fd, off_t offset) {
    return (void *)syscall(SYS_mmap, at, bytes, may, flags, fd, offset);
}

/* The kernel chooses a place with a page to spare on each side; what is beside the aligned map is given back. */
void *mmap(void *at, size_t bytes, int may, int flags, int fd, off_t offset) {
    if (((size_t)offset & (page_bytes() - 1)) != 0 || ((flags & MAP_FIXED) && !is_aligned(at))) {
        refuse();
        return MAP_FAILED;
    }
    if (flags & MAP_FIXED) {
        return map(at, bytes, may, flags, fd, offset);
    }
    size_t whole = whole_pages(bytes), room = whole + page_bytes();
    uint8_t *base = map(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return MAP_FAILED;
    }
    uint8_t *start = (uint8_t *)whole_pages((uintptr_t)base);
    if (start > base) {
        syscall(SYS_munmap, base, start - base);
    }
    if (base + room > start + whole) {
        syscall(SYS_munmap, start + whole, base + room - (start + whole));
    }
    uint8_t *placed = map(start, bytes, may, flags | MAP_FIXED, fd, offset);
    if (placed == MAP_FAILED) {
        int code = errno;
        syscall(SYS_munmap, start, whole);
        errno = code;
    }
    return placed;
}

void *mmap64(void *at, size_t bytes, int may, int flags, int fd, off_t offset) {
    return mmap(at, bytes, may, flags, fd, offset);
}

int munmap(void *at, size_t bytes) {
    return is_aligned(at) ? (int)syscall(SYS_munmap, at, whole_pages(bytes)) : refuse();
}

int mprotect(void *at, size_t bytes, int may) {
    return is_aligned(at) ? (int)syscall(SYS_mprotect, at, whole_pages(bytes), may) : refuse();
}

int madvise(void *at, size_t bytes, int advice) {
    return is_aligned(at) ? (int)syscall(SYS_madvise, at, whole_pages(bytes), advice) : refuse();
}

/* A page of the larger size may end beyond the file's last small one, which this kernel has no map of. */
int msync(void *at, size_t bytes, int flags) {
    return is_aligned(at) ? (int)syscall(SYS_msync, at, bytes, flags) : refuse();
}
