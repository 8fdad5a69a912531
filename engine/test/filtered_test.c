/*
 * filtered_test.c — checks a process with a filter of system calls, as containers and systemd have it, which
 * therefore does not call mincore(2); and kernels older than MADV_POPULATE_WRITE (Linux 5.14). prctl, mincore and
 * madvise are those of this file.
 */
#include "children.h"
#include "internals.h"

#include "base/page.h"

#include <stdarg.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { SIZE = 4 << 20, MANY = 600 };

static bool is_filtered, is_old;

int prctl(int option, ...) {
    va_list more;
    va_start(more, option);
    unsigned long argument = va_arg(more, unsigned long);
    va_end(more);
    return is_filtered && option == PR_GET_SECCOMP ? 2 : (int)syscall(SYS_prctl, option, argument, 0ul, 0ul, 0ul);
}

int mincore(void *address, size_t bytes, unsigned char *pages) {
    if (is_filtered) {
        abort();
    }
    return (int)syscall(SYS_mincore, address, bytes, pages);
}

int madvise(void *address, size_t bytes, int advice) {
    if (is_old && advice == MADV_POPULATE_WRITE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, address, bytes, advice);
}

static unsigned reads_of(larder *cache, const char *name) {
    lard_key key = lard_key_of(cache->core->map, NULL, name, strlen(name));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
    lard_found found = lard_index_find(&view, &key);
    return found.slot ? lard_reads_of(found.reads, found.slot) : 9;
}

static void read_it_twice(void *context) {
    (void)context;
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache && is(cache, "read by another", "v") && is(cache, "read by another", "v"));
    larder_close(cache);
}

static void processes_share_hints(void) {
    if (access("/dev/shm", W_OK) != 0) {
        printf("  skipped: no /dev/shm: %s\n", test_name);
        return;
    }
    for (int i = 0; i < 4; i++) {
        is_filtered = i & 1;
        is_old = i & 2;
        larder *cache = open_cache(SIZE);
        CHECK(cache && cache->core->map->has_shared_hints, "filtered %d, old %d", is_filtered, is_old);
        CHECK(set(cache, "read by another", "v") == LARDER_OK && in_child(read_it_twice, NULL));
        CHECK(reads_of(cache, "read by another") == 3, "filtered %d, old %d", is_filtered, is_old);
        larder_delete(cache, "read by another", 15, NULL);
        larder_close(cache);
    }
    is_filtered = is_old = false;
}

static void a_used_page_is_known_to_be_in_memory(void) {
    size_t page = lard_page_bytes(), bytes = MANY * page;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    uint8_t *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(pages != MAP_FAILED && syscall(SYS_madvise, pages, bytes, MADV_NOHUGEPAGE) == 0);
    is_filtered = true;
    CHECK(!lard_page_is_in_memory(pages, 1) && !lard_page_is_in_memory(pages, bytes));
    for (size_t i = 0; i < MANY - 1; i++) {
        pages[i * page] = 1;
    }
    CHECK(lard_page_is_in_memory(pages, 1) && lard_page_is_in_memory(pages, bytes - page));
    CHECK(!lard_page_is_in_memory(pages, bytes) && !lard_page_is_in_memory(pages, bytes - page + 1));
    pages[bytes - 1] = 1;
    CHECK(lard_page_is_in_memory(pages, bytes));
    CHECK(munmap(pages, bytes) == 0 && !lard_page_is_in_memory(pages, bytes));
    is_filtered = false;
}
#endif

static const test_case tests[] = {
#ifdef __linux__
    TEST(processes_share_hints, "with a filter, and on an older kernel, processes share hints"),
    TEST(a_used_page_is_known_to_be_in_memory, "with a filter, a page that was used is known to be in memory"),
#endif
};

RUN("filtered", tests)
