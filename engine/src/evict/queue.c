/*
 * queue.c — chooses the queue of a new item, and learns how much of the shard the small queue may have.
 *
 * It learns from items that come back after they were evicted: their ghosts tell the queue and the time. Under the
 * shard's lock.
 */
#include "evict/queue.h"
#include "index/ghost.h"

#define SHARE(per_cent) ((per_cent)*65536u / 100)
#define FIRST_SHARE SHARE(5) /* of the record segments for the small queue, before anything was learned */
#define MIN_SHARE SHARE(2)
#define MAX_SHARE SHARE(30)
#define MAX_STEP SHARE(4)
#define LEARN_PER_CENT 80 /* part of the size of an item that comes back */

static uint32_t bounded(int64_t share) {
    return share < MIN_SHARE ? MIN_SHARE : share > MAX_SHARE ? MAX_SHARE : (uint32_t)share;
}

uint32_t lard_queue_small_share(const lard_view *view) {
    uint32_t share = lard_load(&view->header->small_share);
    return share == 0 ? FIRST_SHARE : bounded(share);
}

/*
 * An item that comes back soon after it left the small queue would have been found in a longer small queue; the
 * same holds for the main queue. Soon means: before the queue has emptied an eighth of the shard. So the return of
 * such an item moves the bound between the queues by most of its size.
 */
uint32_t lard_queue_for(lard_view *view, const lard_hash *hash, uint64_t bytes) {
    lard_ghost ghost = lard_ghost_take(view, hash);
    if (ghost == LARD_GHOST_SMALL_YOUNG || ghost == LARD_GHOST_MAIN_YOUNG) {
        uint64_t step = (bytes << 16) / view->map->super.shard_bytes * LEARN_PER_CENT / 100 + 1;
        int64_t by = step < MAX_STEP ? (int64_t)step : MAX_STEP;
        lard_store(&view->header->small_share,
                   bounded(lard_queue_small_share(view) + (ghost == LARD_GHOST_SMALL_YOUNG ? by : -by)));
    }
    return ghost == LARD_GHOST_SMALL || ghost == LARD_GHOST_SMALL_YOUNG ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
}
