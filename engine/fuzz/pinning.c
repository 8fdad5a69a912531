/*
 * pinning.c — what the model knows of pinned items (operations.h): which they are, and how much room they take.
 *
 * It also decides when the engine may say that there is no room. Two sums bound the engine's count: without and
 * with the items that have expired, or may have, because the engine drops those at any time.
 */
#include "operations.h"

enum { REFUSALS_MS = 1000 }; /* so long a count is believed that found no room */

static uint64_t uncounted;
static int64_t uncounted_ms;

/* Forms of an operation (stream.h: op / 24) that few of the older inputs in corpus/ have. */
bool pinning_chosen(const command *c) {
    unsigned form = c->op / OPERATIONS;
    return form == 2 || form == 4 || form == 7 || form == 8;
}

/* Of room: its own bytes, and its part of what is left over in a segment full of its like. */
static uint64_t cost_of(unsigned key, const model_entry *entry) {
    unsigned char name[LARDER_MAX_KEY + 1];
    size_t value_bytes, key_bytes = model_key(key, name);
    model_value(entry, key, &value_bytes);
    uint64_t bytes =
        lard_record_bytes(entry->counter ? LARD_TYPE_COUNTER : LARD_TYPE_PLAIN, key_bytes, value_bytes);
    uint64_t segment = cache->core->map->super.segment_bytes, of_them = bytes < segment ? segment / bytes : 1;
    return segment / of_them;
}

static uint32_t shard_of(unsigned key) {
    unsigned char name[LARDER_MAX_KEY + 1];
    size_t key_bytes = model_key(key, name);
    lard_hash hash = lard_hash_key(cache->core->map, name, key_bytes, false);
    return lard_hash_shard(cache->core->map, &hash);
}

/* SURE: it is there. COUNTED: the engine may count it where it refuses another for its sake. ANY: or elsewhere. */
typedef enum { SURE, COUNTED, ANY } certainty;

static bool counts(const model_entry *entry, certainty least) {
    if (!entry->present || !entry->pinned) {
        return false;
    }
    int64_t seen_ms = world_now_ms - world_lag_ms - REFUSALS_MS;
    return least == SURE      ? model_alive(entry) && !entry->uncertain
           : least == COUNTED ? !entry->expires_ms || entry->expires_ms > seen_ms
                              : true;
}

static uint64_t sum_of(uint32_t shard, unsigned but_for, certainty least) {
    uint64_t sum = 0;
    for (unsigned key = 0; key < MODEL_KEYS - 1; key++) {
        if (key != but_for && counts(&model[key], least) && shard_of(key) == shard) {
            sum += cost_of(key, &model[key]);
        }
    }
    return sum;
}

void pinning_begin(void) { uncounted = 0; }

/* A delete takes no lock: if its process dies, the count is too high until items are counted again. */
void pinning_died(void) {
    for (unsigned i = 0; i < attempt_count; i++) {
        const model_entry *had = &model[attempts[i].key];
        uncounted += had->present && had->pinned ? cost_of(attempts[i].key, had) : 0;
    }
    uncounted_ms = world_now_ms;
}

bool pinning_may_be_refused(unsigned key, const model_entry *wanted, larder_status status) {
    unsigned char name[LARDER_MAX_KEY + 1];
    size_t value_bytes, key_bytes = model_key(key, name);
    model_value(wanted, key, &value_bytes);
    if (status == LARDER_VALUE_TOO_LARGE) {
        return value_bytes > larder_max_value(cache) ||
               (wanted->pinned && key_bytes + value_bytes > larder_max_pinned(cache));
    }
    int64_t since_ms = world_now_ms - uncounted_ms;
    uncounted = since_ms < 0 || since_ms > REFUSALS_MS + world_lag_ms ? 0 : uncounted;
    lard_view view = lard_view_of(cache->core->map, shard_of(key));
    uint64_t cost = cost_of(key, wanted), before = counts(&model[key], SURE) ? cost_of(key, &model[key]) : 0;
    uint64_t others = sum_of(view.number, key, COUNTED) + uncounted;
    return wanted->pinned && cost > before && others + cost > lard_pin_room(&view);
}

/* `exact`: it was counted a moment ago; else a process that died may have left the count too high. */
void pinning_check(bool exact) {
    uncounted = exact ? 0 : uncounted;
    for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
        lard_view view = lard_view_of(cache->core->map, s);
        uint64_t epoch, said = lard_view_is_current(&view, &epoch) ? lard_pin_bytes(&view) : 0;
        uint64_t least = sum_of(s, MODEL_KEYS, SURE), most = sum_of(s, MODEL_KEYS, ANY);
        EXPECT(said >= least, "shard %u says it has %llu pinned bytes, and has %llu", s, (unsigned long long)said,
               (unsigned long long)least);
        EXPECT((said <= most && said <= lard_pin_room(&view)) || (model_deaths && !exact),
               "shard %u says it has %llu pinned bytes, and has %llu", s, (unsigned long long)said,
               (unsigned long long)most);
    }
}
