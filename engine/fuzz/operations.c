/*
 * operations.c — fuzzes streams of operations against the naive model (model.h).
 *
 * Each command is one operation of larder.h, or an event: the process is killed before some store to shared
 * memory, another process dies or is stopped while it holds a lock, the clock moves, the file is opened again. The
 * engine's results must be those of the model; a miss is allowed if an eviction was counted.
 */
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 1 << 20, LARGE_BYTES = 26 << 20 }; /* one shard, two shards */

static world_file small, large;
static world_file *file;
larder *cache;
operations_attempt attempts[OPERATIONS_MOST];
unsigned attempt_count;
uint64_t appended, worked;
static uint64_t capacity;
static bool hardware;
static uint64_t configuration; /* of the cache; 0: none */
static larder *stranger;       /* of another configuration, which only reads */

static void open_both(void) {
    enum { STRANGER = 9 };
    cache = world_open(file, configuration);
    stranger = world_open(file, STRANGER);
}

static void close_both(void) {
    larder_close(stranger);
    larder_close(cache);
}

static void reopen(void) {
    model_more_evictions = model_evictions(cache);
    close_both();
    open_both();
}

/* Another configuration reads nothing, as it has stored nothing. */
static void look_as_stranger(const command *c) {
    unsigned char name[LARDER_MAX_KEY + 1], value[64];
    const larder_call stale = {.flags = LARDER_CALL_STALE};
    unsigned key = operations_key(c->key);
    size_t key_bytes = model_key(key, name);
    EXPECT(larder_get(stranger, name, key_bytes, value, sizeof value, NULL, &stale) == LARDER_MISS &&
               larder_exists(stranger, name, key_bytes, NULL, &stale) == LARDER_MISS,
           "key %u is read by another configuration", key);
}

/* Another process of which the lock of a shard tells; its slot is none that this process has. */
static void plant_owner(unsigned shard, uint32_t incarnation) {
    lard_map *map = cache->core->map;
    uint32_t slot = map->super.process_slots - 2;
    lard_view view = lard_view_of(map, shard % map->super.shard_count);
    if (lard_load(&view.header->lock) == 0) {
        lard_process *row = &map->processes[slot];
        lard_store(&row->incarnation, incarnation);
        lard_store(&view.header->lock, lard_process_owner_word(slot, incarnation));
    }
}

static void release_stopped(void) {
    for (uint32_t s = 0; world_stopped && s < cache->core->map->super.shard_count; s++) {
        lard_view view = lard_view_of(cache->core->map, s);
        view.owner = world_stopped;
        if ((lard_load(&view.header->lock) & ~LARD_LOCK_WAITERS) == world_stopped) {
            lard_shard_unlock(&view);
        }
    }
    world_stopped = 0;
}

static void stop_owner(unsigned shard) {
    uint32_t slot = cache->core->map->super.process_slots - 2;
    if (!world_stopped) {
        plant_owner(shard, 7);
        world_stopped = lard_process_owner_word(slot, 7);
    }
}

static void move_clock(const command *c) {
    int64_t by = (int64_t)(c->n % (1u << (c->a & 31)));
    world_now_ms += c->a & 64 ? -(by % 100000) : by;
    world_now_ms = world_now_ms < WORLD_START_MS / 2 ? WORLD_START_MS / 2 : world_now_ms;
    model_time_passes();
}

static void perform(const command *c) {
    attempt_count = 0;
    switch (c->op % OPERATIONS) {
    case 0:
    case 1:
        operation_get(c);
        break;
    case 2:
    case 3:
        operation_store(c, LARDER_SET);
        break;
    case 4:
        operation_store(c, LARDER_ADD);
        break;
    case 5:
        operation_store(c, LARDER_REPLACE);
        break;
    case 6:
        operation_delete(c);
        break;
    case 7:
    case 8:
        operation_increment(c);
        break;
    case 9:
        operation_touch(c);
        break;
    case 10:
        operation_cas(c);
        break;
    case 11:
        operation_get_multi(c);
        break;
    case 12:
    case 13:
        operation_set_multi(c);
        break;
    case 14:
        operation_scan(c);
        break;
    case 15:
        operation_prune(c);
        break;
    case 16:
        operation_clear();
        break;
    case 17:
        operation_verify();
        break;
    case 18:
        operation_misuse(c);
        break;
    default:
        break;
    }
}

/* Nothing that was tried is an excuse for its loss. */
static bool stays_pinned(const operations_attempt *tried, const model_entry *before) {
    return before->pinned && model_alive(before) && !before->uncertain && model_alive(&tried->entry) &&
           !pinning_may_be_refused(tried->key, &tried->entry, LARDER_PIN_FULL) &&
           !pinning_may_be_refused(tried->key, &tried->entry, LARDER_VALUE_TOO_LARGE);
}

/* What was about to be stored is there, or what was there before; nobody says which. */
static void settle_attempt(const operations_attempt *tried) {
    model_entry *entry = &model[tried->key], before = *entry;
    unsigned char name[LARDER_MAX_KEY + 1];
    size_t key_bytes = model_key(tried->key, name);
    larder_item item;
    larder_status status = larder_exists(cache, name, key_bytes, &item, NULL);
    bool is_new = status == LARDER_OK && tried->entry.present && item.is_counter == tried->entry.counter &&
                  item.expires_at_ms == tried->entry.expires_ms && item.is_pinned == tried->entry.pinned;
    if (is_new) {
        size_t bytes;
        const unsigned char *want = model_value(&tried->entry, tried->key, &bytes);
        unsigned char *have = malloc(bytes + 1);
        status = larder_get(cache, name, key_bytes, have, bytes, &item, NULL);
        is_new = status == LARDER_OK && item.size_bytes == bytes && memcmp(have, want, bytes) == 0 &&
                 item.flags == tried->entry.flags;
        free(have);
    }
    *entry = is_new ? tried->entry : before;
    entry->uncertain = true;
    if (status == LARDER_MISS) {
        EXPECT(!stays_pinned(tried, &before), "key %u is gone with who would have changed it, and was pinned",
               tried->key);
        entry->present = entry->present && !model_alive(entry); /* the expired live again, see model_forgotten */
    } else {
        entry->counter = item.is_counter;
        if (before.counter && !item.is_counter && !is_new) { /* a swap had made it plain */
            entry->text = true;
            entry->bytes =
                (size_t)snprintf(entry->literal, sizeof entry->literal, "%lld", (long long)before.number);
        }
        model_compare(cache, tried->key, NULL);
    }
}

/* A killed process is one that comes again: what it had in its hand is a dead owner's then. */
static void after_death(void) {
    world_kill = 0;
    model_deaths++;
    pinning_died();
    bool moving = false;
    for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
        lard_view view = lard_view_of(cache->core->map, s);
        moving |= lard_load(&view.header->moves) & 1;
    }
    if (moving || appended > capacity / 4) { /* what was just being moved or evicted is not counted */
        model_more_evictions++;
        model_doubts++;
    }
    reopen();
    for (unsigned i = 0; i < attempt_count; i++) {
        settle_attempt(&attempts[i]);
    }
}

static void happen(const command *c, unsigned long *kill_next) {
    switch (c->op % OPERATIONS) {
    case 19:
        release_stopped();
        reopen();
        break;
    case 20:
        move_clock(c);
        break;
    case 21:
        plant_owner(c->a, c->n & LARD_OWNER_INCARNATION_MASK ? c->n : 1);
        lard_store(&cache->core->map->processes[cache->core->map->super.process_slots - 2].incarnation, c->n + 1);
        break;
    case 22:
        if (world_stopped) {
            release_stopped();
        } else {
            stop_owner(c->a);
        }
        break;
    default: /* 23 */
        *kill_next = 1 + c->n % 600;
    }
}

/* True where the process was killed before that many more stores. */
static bool is_killed(const command *c, unsigned long stores) {
    world_kill = stores;
    if (stores && sigsetjmp(world_killed, 0)) {
        return true;
    }
    perform(c);
    world_kill = 0;
    look_as_stranger(c);
    return false;
}

static void run(const stream *input) {
    unsigned long kill_next = 0;
    for (size_t i = 0; i < input->count; i++) {
        const command *c = &input->commands[i];
        if (c->op % OPERATIONS > 18) {
            happen(c, &kill_next);
            continue;
        }
        if (is_killed(c, world_stopped ? 0 : kill_next)) {
            after_death();
        }
        kill_next = 0;
    }
}

static void check_all(void) {
    release_stopped();
    operation_verify();
    for (unsigned key = 0; key < MODEL_KEYS; key++) {
        if (model[key].present) {
            model_compare(cache, key, NULL);
        }
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    world_file_make(&small, "small.larder", SMALL_BYTES, NULL);
    world_file_make(&large, "large.larder", LARGE_BYTES, NULL);
    hardware = lard_crc_hardware;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static stream input;
    stream_read(&input, data, size);
    file = input.settings[0] & 1 ? &large : &small;
    world_begin();
    world_lag_ms = input.settings[1] % (LARD_COARSE_LAG_MS + 1);
    lard_crc_hardware = hardware && !(input.settings[0] & 2); /* or as on a machine without the instruction */
    world_file_restore(file, false);
    configuration = input.settings[2] & 1 ? 7 : 0;
    open_both();
    capacity = (uint64_t)larder_max_value(cache) * 8;
    appended = worked = model_more_evictions = model_doubts = model_deaths = 0;
    memset(model, 0, sizeof model);
    operations_begin();
    pinning_begin();
    run(&input);
    check_all();
    reopen();
    check_all();
    close_both();
    return 0;
}
