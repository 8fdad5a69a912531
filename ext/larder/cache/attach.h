/*
 * attach.h — the engine's handle for a call, attached to its file if that may be.
 */
#ifndef LARDER_ATTACH_H
#define LARDER_ATTACH_H

#include "cache/handle.h"

void glue_attach_init(VALUE cache_class);

/* The engine's handle for a call that reads, after an attempt to attach if it is not attached. May leave the GVL,
 * so not with pointers into Strings at hand. Raises ClosedError, and OpenError where a lazy cache cannot attach:
 * once, or each time if it is strict. */
larder *glue_attach_to_read(VALUE cache);

/* The same for a call that changes something. Those are made in any case, as the engine remembers what it cannot
 * apply, and raise what the engine answers. Where the file is required this raises instead. */
larder *glue_attach_to_change(VALUE cache);

/* True if the file was replaced during the call that was just made, and the cache is attached to the new one now:
 * the call is made again. */
bool glue_attached_again(VALUE cache);

/* glue_handle_call_released() after an attempt to attach. */
void glue_attach_and_call_released(VALUE cache, void (*run)(larder *engine, void *arg), void *arg);

/* Raises OpenError, which names the key (nil: all keys), where the cache is lazy and could not attach. */
void glue_raise_unless_attached(VALUE cache, VALUE key);

#endif
