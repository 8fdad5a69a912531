/*
 * tree_key.c — the Strings and Symbols that are keys of Hashes.
 */
#include "value/tree_key.h"

#include <ruby/encoding.h>
#include <string.h>

/*
 * Keys that were seen last, by their bytes: Ruby's tables of Strings and Symbols take some hundred instructions
 * for each, and the rows of an application have the same keys again and again. They are never moved, and freed
 * when replaced.
 */
enum { KNOWN_KEYS = 512, MAX_SYMBOL_BYTES = 64 };
typedef struct {
    VALUE text; /* frozen; 0: none */
    VALUE key;  /* the text, or the Symbol of that name */
} known_key;
static known_key known_strings[KNOWN_KEYS], known_symbols[KNOWN_KEYS];

static inline unsigned place_of_key(const char *bytes, size_t size) {
    uint64_t first = 0, last = 0;

    memcpy(&first, bytes, size < 8 ? size : 8);
    memcpy(&last, bytes + (size < 8 ? 0 : size - 8), size < 8 ? size : 8);
    uint64_t mixed = (first ^ size) * UINT64_C(0x9e3779b97f4a7c15) ^ last * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (unsigned)(mixed >> 32) % KNOWN_KEYS;
}

static inline bool is_known(const known_key *known, const char *bytes, size_t size) {
    return known->text && (size_t)RSTRING_LEN(known->text) == size &&
           memcmp(RSTRING_PTR(known->text), bytes, size) == 0;
}

VALUE tree_key(const char *bytes, size_t size) {
    known_key *known = &known_strings[place_of_key(bytes, size)];

    if (!is_known(known, bytes, size)) {
        VALUE text = rb_enc_interned_str(bytes, (long)size, rb_utf8_encoding());
        *known = (known_key){text, text};
    }
    return known->key;
}

/* Qundef: it is no text in UTF-8. */
static VALUE make_symbol(const char *bytes, size_t size) {
    VALUE name = rb_utf8_str_new(bytes, (long)size);

    return rb_enc_str_coderange(name) == ENC_CODERANGE_BROKEN ? Qundef : rb_str_intern(name);
}

VALUE tree_key_symbol(const char *bytes, size_t size) {
    if (size > MAX_SYMBOL_BYTES) {
        return make_symbol(bytes, size);
    }
    known_key *known = &known_symbols[place_of_key(bytes, size)];
    if (!is_known(known, bytes, size)) {
        VALUE symbol = make_symbol(bytes, size);
        if (symbol == Qundef) {
            return Qundef;
        }
        *known = (known_key){rb_sym2str(symbol), symbol};
    }
    return known->key;
}

static void mark_known_keys(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < KNOWN_KEYS; i++) {
        if (known_strings[i].text) {
            rb_gc_mark(known_strings[i].text);
        }
        if (known_symbols[i].text) {
            rb_gc_mark(known_symbols[i].text);
            rb_gc_mark(known_symbols[i].key);
        }
    }
}

static const rb_data_type_t known_keys_type = {
    .wrap_struct_name = "larder known keys",
    .function = {.dmark = mark_known_keys},
};

void tree_key_init(void) {
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &known_keys_type, known_strings));
}
