/*
 * processes.c — larder_get_pids, larder_process and larder_process_lives: which processes are attached.
 */
#include "handle/enter.h"
#include "proc/process.h"

size_t larder_get_pids(larder *cache, uint32_t *pids, size_t most) {
    size_t count = 0;
    lard_map *map = cache ? lard_enter(cache->core) : NULL;
    for (uint32_t slot = 0; map && slot < map->super.process_slots; slot++) {
        if (lard_process_is_attached(cache->core, map, slot)) {
            if (count < most) {
                pids[count] = lard_load(&map->processes[slot].pid);
            }
            count++;
        }
    }
    return count;
}

uint32_t larder_process(larder *cache) {
    lard_map *map = cache ? lard_enter(cache->core) : NULL;
    return map ? map->owner_word : 0;
}

int larder_process_lives(larder *cache, uint32_t process) {
    lard_map *map = cache ? lard_enter(cache->core) : NULL;
    return !map || (process != 0 && lard_process_alive(cache->core, map, process));
}
