/* resize_test.c — another size, live: who has the old file goes on with the new one, and where it fails nothing
 * has changed. */
#include "children.h"
#include "file/view.h"
#include "index/index.h"
#include "index/slot.h"
#include "places.h"
#include "segment/record.h"
#include "shard/discard.h"
#include "shard/shard.h"

#include <sys/statvfs.h>

enum { SMALL = 1 << 20, LARGE = 4 << 20, WRITERS = 4, SIZES = 20 };

static larder *cache;
static larder_error why;

static void everybody_goes_on_with_the_new_one(void) {
    uint32_t *stage = shared_memory(sizeof *stage);
    cache = open_cache(SMALL);
    CHECK(set(cache, "k", "old") == LARDER_OK);
    pid_t other = fork_child();
    if (other == 0) {
        CHILD_CHECK(is(cache, "k", "old"));
        advance(stage);
        CHILD_CHECK(await(stage, 2));
        CHILD_CHECK(is(cache, "k", NULL) && larder_size(cache) == LARGE);
        CHILD_CHECK(set(cache, "k", "new") == LARDER_OK);
        _exit(0);
    }
    CHECK(await(stage, 1) && larder_resize(cache, LARGE, 0, &why) == LARDER_OK, "%s", why.detail);
    advance(stage);
    CHECK(wait_for(other) == 0 && is(cache, "k", "new") && larder_size(cache) == LARGE && sound(cache));
    larder_close(cache);
    cache = open_cache(SMALL);
    CHECK(larder_size(cache) == LARGE && is(cache, "k", "new"), "and so does who comes later");
    larder_close(cache);
    munmap(stage, sizeof *stage);
}

static void what_fails_changes_nothing(void) {
    cache = open_cache(SMALL);
    CHECK(set(cache, "k", "v") == LARDER_OK);
    CHECK(larder_resize(cache, 1000, 0, &why) == LARDER_SIZE_TOO_SMALL && why.detail[0]);
    CHECK(larder_resize(cache, LARDER_MAX_SIZE + 1, 0, &why) == LARDER_SIZE_TOO_LARGE);
    CHECK(larder_resize(cache, LARDER_MAX_SIZE, 0, &why) == LARDER_NO_SPACE, "%s", why.detail);
    CHECK(larder_resize(NULL, LARGE, 0, &why) == LARDER_INVALID);
    CHECK(mkdir(in_directory("t.larder.resize"), 0700) == 0);
    CHECK(larder_resize(cache, LARGE, 0, NULL) != LARDER_OK && rmdir(in_directory("t.larder.resize")) == 0);
    CHECK(is(cache, "k", "v") && larder_size(cache) == SMALL && !is_there(in_directory("t.larder.resize")));
    larder_close(cache);
}

static uint64_t available_blocks(void) {
    struct statvfs room;
    return statvfs(test_directory, &room) == 0 ? room.f_bavail : 0;
}

/* A reservation that is tried and given back would leave others without room for as long. */
static void a_size_without_room_takes_none(void) {
    uint32_t *stage = shared_memory(2 * sizeof *stage);
    uint64_t before = available_blocks();
    cache = open_cache(SMALL);
    pid_t watcher = fork_child();
    if (watcher == 0) {
        uint64_t least = before;
        advance(stage);
        while (__atomic_load_n(stage, __ATOMIC_ACQUIRE) < 2) {
            uint64_t now = available_blocks();
            least = now < least ? now : least;
        }
        _exit(least > before / 2 ? 0 : 1);
    }
    CHECK(await(stage, 1));
    for (int i = 0; i < 3; i++) {
        CHECK(larder_resize(cache, LARDER_MAX_SIZE, 0, &why) == LARDER_NO_SPACE);
    }
    advance(stage);
    CHECK(wait_for(watcher) == 0, "others had half of the free room, or less");
    larder_close(cache);
    munmap(stage, 2 * sizeof *stage);
}

static void what_was_left_of_another_is_no_hindrance(void) {
    cache = open_cache(SMALL);
    CHECK(put_file(in_directory("t.larder.resize"), "half", 4, 0600));
    CHECK(larder_resize(cache, LARGE, 0, &why) == LARDER_OK && larder_size(cache) == SMALL);
    CHECK(set(cache, "k", "v") == LARDER_OK && larder_size(cache) == LARGE &&
          !is_there(in_directory("t.larder.resize")));
    larder_close(cache);
}

/* Each counts in a key of its own: a counter may start anew, but never go back otherwise. */
static void while_everybody_writes(void) {
    uint32_t *over = shared_memory(sizeof *over);
    pid_t writers[WRITERS];
    cache = open_cache(SMALL);
    for (int i = 0; i < WRITERS; i++) {
        if ((writers[i] = fork_child()) == 0) {
            char key[2] = {(char)('a' + i), 0};
            int64_t last = 0, n = 0;
            while (!__atomic_load_n(over, __ATOMIC_ACQUIRE)) {
                larder_status status = larder_increment(cache, key, 1, 1, 0, 0, &n, NULL);
                CHILD_CHECK(status != LARDER_OK || n == last + 1 || n == 1);
                last = status == LARDER_OK ? n : last;
            }
            _exit(0);
        }
    }
    for (uint64_t i = 0; i < SIZES; i++) {
        CHECK(larder_resize(cache, SMALL + i * SMALL, 0, &why) == LARDER_OK, "%s", why.detail);
        CHECK(is(cache, "nobody", NULL) && larder_size(cache) == SMALL + i * SMALL && sound(cache));
        usleep(2000);
    }
    advance(over);
    for (int i = 0; i < WRITERS; i++) {
        CHECK(wait_for(writers[i]) == 0);
    }
    larder_close(cache);
    munmap(over, sizeof *over);
}

/* A writer may be stopped in a call on the old file while the others leave it, and free its disk space. What it
 * goes on with must not be what the disk has. */
static void a_writer_in_the_old_file_keeps_what_it_works_on(void) {
    cache = open_cache(SMALL);
    CHECK(set(cache, "k", "old") == LARDER_OK);
    lard_map *map = cache->core->map;
    lard_key key = lard_key_of(map, NULL, "k", 1);
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key.hash));
    CHECK(set(cache, "k", "new") == LARDER_OK && lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    uint64_t slot = lard_index_find(&view, &key).value, offset = LARD_SLOT_OFFSET(slot), epoch, now;
    CHECK(offset > 0 && lard_view_is_current(&view, &epoch));
    pid_t other = fork_child();
    if (other == 0) {
        CHILD_CHECK(larder_resize(cache, LARGE, 0, &why) == LARDER_OK && set(cache, "k", "newest") == LARDER_OK);
        _exit(0);
    }
    CHECK(wait_for(other) == 0);
    lard_record_info info;
    CHECK(LARD_SLOT_OFFSET(lard_index_find(&view, &key).value) == offset &&
              lard_record_of_slot(&view, slot, &info) && lard_record_sound(&view, offset, &info),
          "the shard is freed while it is locked");
    lard_shard_unlock(&view);
    lard_discard(map);
    CHECK(lard_load(&view.header->epoch) != epoch, "a reader does not see that the shard is freed");
    CHECK(lard_load(&lard_view_words(&view, offset)[0]) == 0, "nobody is in the shard, and it is not freed");
    CHECK(!lard_view_is_current(&view, &now) && is(cache, "k", "newest"));
    larder_close(cache);
}

enum { ITEMS = 500, PART = 100000 };

static void with_what_it_had(void) {
    static char value[PART], have[PART];
    char key[16];
    int64_t n;
    larder_item item;
    int64_t soon_ms = lard_clock_of_call(NULL) + 60000;
    cache = open_cache(LARGE);
    memset(value, 'x', sizeof value);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        larder_store store = {.key = key,
                              .key_bytes = strlen(key),
                              .value = value,
                              .value_bytes = (size_t)i,
                              .ttl_ms = i % 2 ? 60000 : 0,
                              .flags = (uint8_t)i,
                              .pin = i % 10 == 0};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    }
    CHECK(set_bytes(cache, "large", value, PART, 0) == LARDER_OK &&
          set_bytes(cache, "gone", "", 0, 1) == LARDER_OK);
    CHECK(larder_increment(cache, "n", 1, 41, 0, 0, &n, NULL) == LARDER_OK);
    usleep(2000);
    uint32_t incarnation = cache->core->incarnation;
    CHECK(larder_resize(cache, 2 * LARGE, 1, &why) == LARDER_OK, "%s", why.detail);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(larder_get(cache, key, strlen(key), have, sizeof have, &item, NULL) == LARDER_OK);
        CHECK(item.size_bytes == (size_t)i && item.flags == (uint8_t)i && item.is_pinned == (i % 10 == 0) &&
              memcmp(have, value, (size_t)i) == 0);
        CHECK(i % 2 ? item.expires_at_ms >= soon_ms && item.expires_at_ms < soon_ms + 60000 : !item.expires_at_ms);
    }
    CHECK(larder_get(cache, "large", 5, have, PART, NULL, NULL) == LARDER_OK && memcmp(have, value, PART) == 0);
    CHECK(larder_increment(cache, "n", 1, 1, 0, 0, &n, NULL) == LARDER_OK && n == 42 && is(cache, "gone", NULL));
    CHECK(larder_size(cache) == 2 * LARGE && sound(cache));
    larder_stats all;
    CHECK(larder_get_stats(cache, &all) == LARDER_OK && all.items == ITEMS + 2, "%d items", (int)all.items);
    CHECK(cache->core->incarnation == incarnation + 1,
          "no later part of a large value has the name of one that was copied");
    larder_close(cache);
}

static void kept_items_must_fit(void) {
    static char value[4000];
    char key[16];
    cache = open_cache(LARGE);
    for (int i = 0; i < 400; i++) {
        snprintf(key, sizeof key, "k%d", i);
        larder_store store = {
            .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = sizeof value, .pin = 1};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    }
    CHECK(larder_resize(cache, SMALL, 1, &why) == LARDER_PIN_FULL && !is_there(in_directory("t.larder.resize")));
    CHECK(strstr(why.detail, ": a file of 1048576 bytes has no room for the items to keep"), "%s", why.detail);
    CHECK(larder_size(cache) == LARGE && larder_exists(cache, "k399", 4, NULL, NULL) == LARDER_OK && sound(cache),
          "nothing has changed");
    CHECK(larder_resize(cache, SMALL, 0, &why) == LARDER_OK);
    larder_close(cache);
}

/* Of unpinned items. */
static void all_items_must_fit(void) {
    static char value[400000];
    char key[16];
    larder_stats before, after;
    cache = open_cache(LARGE);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(set_bytes(cache, key, value, 700, 0) == LARDER_OK);
    }
    CHECK(larder_get_stats(cache, &before) == LARDER_OK && before.items == 2000);
    CHECK(larder_resize(cache, SMALL, LARDER_KEEP_TRIAL, &why) == LARDER_FULL &&
              larder_resize(cache, SMALL, LARDER_KEEP_ALL, &why) == LARDER_FULL &&
              larder_resize(cache, 2 * SMALL, LARDER_KEEP_TRIAL, &why) == LARDER_OK,
          "%s", why.detail);
    CHECK(larder_size(cache) == LARGE && !is_there(in_directory("t.larder.resize")), "nothing has changed");
    CHECK(larder_resize(cache, 2 * SMALL, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    CHECK(larder_get_stats(cache, &after) == LARDER_OK && after.items == 2000 && sound(cache));
    CHECK(larder_resize(cache, LARGE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    CHECK(set_bytes(cache, "large", value, sizeof value, 0) == LARDER_OK);
    CHECK(larder_resize(cache, SMALL, LARDER_KEEP_ALL, &why) == LARDER_FULL, "longer than any item there");
    CHECK(larder_resize(cache, 2 * LARGE, LARDER_KEEP_ALL, &why) == LARDER_OK, "in chunks: %s", why.detail);
    CHECK(larder_resize(cache, SMALL, LARDER_KEEP_SOME, &why) == LARDER_OK, "%s", why.detail);
    CHECK(larder_get_stats(cache, &after) == LARDER_OK && after.items > 500 && after.items < 2001);
    CHECK(larder_resize(cache, SMALL, LARDER_KEEP_TRIAL + 1, &why) == LARDER_INVALID);
    larder_close(cache);
}

static void nobody_else_may_have_it_open(void) {
    uint32_t *stage = shared_memory(sizeof *stage);
    cache = open_cache(SMALL);
    CHECK(set(cache, "k", "v") == LARDER_OK);
    pid_t other = fork_child();
    if (other == 0) {
        CHILD_CHECK(is(cache, "k", "v"));
        advance(stage);
        CHILD_CHECK(await(stage, 2));
        _exit(0);
    }
    CHECK(await(stage, 1) && larder_resize(cache, LARGE, 1, &why) == LARDER_IN_USE &&
          strstr(why.detail, "t.larder"));
    CHECK(is(cache, "k", "v") && larder_size(cache) == SMALL);
    advance(stage);
    CHECK(wait_for(other) == 0 && larder_resize(cache, LARGE, 1, &why) == LARDER_OK && is(cache, "k", "v"));
    larder_close(cache);
    munmap(stage, sizeof *stage);
}

static const test_case tests[] = {
    TEST(everybody_goes_on_with_the_new_one, "every process goes on with the new file, empty and of that size"),
    TEST(a_size_without_room_takes_none, "a size that the disk has no room for takes no room from others"),
    TEST(what_fails_changes_nothing, "where it fails nothing has changed"),
    TEST(what_was_left_of_another_is_no_hindrance, "what is left of one that was killed is no hindrance"),
    TEST(with_what_it_had, "what is kept has its value, life, flags and number, also where it is large"),
    TEST(kept_items_must_fit, "a file without room for what is never evicted is not taken"),
    TEST(all_items_must_fit, "where all items are to be kept, a file that is too small for one is not taken"),
    TEST(nobody_else_may_have_it_open, "it is copied only where nobody else has it open"),
    TEST(a_writer_in_the_old_file_keeps_what_it_works_on, "a writer in the old file keeps what it works on"),
    TEST(while_everybody_writes, "sizes change while everybody writes, and nobody sees a value of before"),
};
RUN("resize", tests)
