/*
 * queue.c — which queue a new item goes to, and how much of the shard the small queue may have.
 *
 * The share is learned from the items that come back after they were evicted: their ghosts say from which queue,
 * and how long ago. Under the shard's lock.
 */
#include "evict/queue.h"
#include "index/ghost.h"

#define SHARE(per_cent) ((per_cent)*65536u / 100)
#define FIRST_SHARE SHARE(5) /* of the record segments for the small queue, until it is known better */
#define LEAST_SHARE SHARE(2)
#define MOST_SHARE SHARE(30)
#define MOST_STEP SHARE(4)
#define LEARN_PER_CENT 80 /* of the size of what comes back */

static uint32_t bounded(int64_t share) {
    return share < LEAST_SHARE ? LEAST_SHARE : share > MOST_SHARE ? MOST_SHARE : (uint32_t)share;
}

/* Of the record segments, in 65536ths, whatever the word says. */
uint32_t lard_queue_small_share(const lard_view *view) {
    uint32_t share = lard_load(&view->head->small_share);
    return share == 0 ? FIRST_SHARE : bounded(share);
}

/*
 * What has just left the small queue and comes back would have been found in a longer
 * one, and likewise in the main queue: so much of each as tells of an eighth of the shard
 * more. So the return of an item moves the bound between the queues by most of its size.
 */
uint32_t lard_queue_for(lard_view *view, const lard_hash *hash, uint64_t bytes) {
    lard_ghost ghost = lard_ghost_take(view, hash);
    if (ghost == LARD_GHOST_SMALL_YOUNG || ghost == LARD_GHOST_MAIN_YOUNG) {
        uint64_t step = (bytes << 16) / view->map->super.shard_bytes * LEARN_PER_CENT / 100 + 1;
        int64_t by = step < MOST_STEP ? (int64_t)step : MOST_STEP;
        lard_store(&view->head->small_share,
                   bounded(lard_queue_small_share(view) + (ghost == LARD_GHOST_SMALL_YOUNG ? by : -by)));
    }
    return ghost == LARD_GHOST_SMALL || ghost == LARD_GHOST_SMALL_YOUNG ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
}
