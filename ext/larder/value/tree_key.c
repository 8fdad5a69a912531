/*
 * tree_key.c — the Strings that are keys of Hashes.
 */
#include "value/tree_key.h"

#include <ruby/encoding.h>
#include <string.h>

/*
 * Keys that were seen last, by their bytes: Ruby's table of Strings takes some hundred instructions for each, and
 * the rows of an application have the same keys again and again. They are never moved, and freed when replaced.
 */
enum { KNOWN_KEYS = 512 };
static VALUE known_key[KNOWN_KEYS];

/* Of a key of at most 31 bytes. */
static inline unsigned place_of_key(const char *bytes, size_t size) {
    uint64_t first = 0, last = 0;

    memcpy(&first, bytes, size < 8 ? size : 8);
    memcpy(&last, bytes + (size < 8 ? 0 : size - 8), size < 8 ? size : 8);
    uint64_t mixed = (first ^ size) * UINT64_C(0x9e3779b97f4a7c15) ^ last * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (unsigned)(mixed >> 32) % KNOWN_KEYS;
}

VALUE tree_key(const char *bytes, size_t size) {
    unsigned place = place_of_key(bytes, size);
    VALUE key = known_key[place];

    if (!key || (size_t)RSTRING_LEN(key) != size || memcmp(RSTRING_PTR(key), bytes, size) != 0) {
        key = rb_enc_interned_str(bytes, (long)size, rb_utf8_encoding());
        known_key[place] = key;
    }
    return key;
}

static void mark_known_keys(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < KNOWN_KEYS; i++) {
        if (known_key[i]) {
            rb_gc_mark(known_key[i]);
        }
    }
}

static const rb_data_type_t known_keys_type = {
    .wrap_struct_name = "larder known keys",
    .function = {.dmark = mark_known_keys},
};

void tree_key_init(void) {
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &known_keys_type, known_key));
}
