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
 *
 * Ractors share these tables, and run at the same time. A String is one word. A Symbol and its text are two: their
 * version is odd while a Ractor stores them, and another even number afterwards. A Ractor that finds it odd, or
 * changed, does without the table.
 */
enum { KNOWN_KEYS = 512, MAX_SYMBOL_BYTES = 64 };
typedef struct {
    VALUE text; /* frozen; 0: none */
    VALUE symbol;
    uint64_t version;
} known_symbol;
static VALUE known_strings[KNOWN_KEYS]; /* frozen; 0: none */
static known_symbol known_symbols[KNOWN_KEYS];

static inline unsigned place_of_key(const char *bytes, size_t size) {
    uint64_t first = 0, last = 0;

    memcpy(&first, bytes, size < 8 ? size : 8);
    memcpy(&last, bytes + (size < 8 ? 0 : size - 8), size < 8 ? size : 8);
    uint64_t mixed = (first ^ size) * UINT64_C(0x9e3779b97f4a7c15) ^ last * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (unsigned)(mixed >> 32) % KNOWN_KEYS;
}

static inline bool is_text(VALUE text, const char *bytes, size_t size) {
    return text && (size_t)RSTRING_LEN(text) == size && memcmp(RSTRING_PTR(text), bytes, size) == 0;
}

VALUE tree_key(const char *bytes, size_t size) {
    VALUE *known = &known_strings[place_of_key(bytes, size)];
    VALUE text = __atomic_load_n(known, __ATOMIC_ACQUIRE);

    if (!is_text(text, bytes, size)) {
        text = rb_enc_interned_str(bytes, (long)size, rb_utf8_encoding());
        __atomic_store_n(known, text, __ATOMIC_RELEASE);
    }
    return text;
}

/* Qundef: it is no text in UTF-8. */
static VALUE make_symbol(const char *bytes, size_t size) {
    VALUE name = rb_utf8_str_new(bytes, (long)size);

    return rb_enc_str_coderange(name) == ENC_CODERANGE_BROKEN ? Qundef : rb_str_intern(name);
}

/* The Symbol of that text, if the table has it in this version; else 0. */
static inline VALUE known_symbol_of(const known_symbol *known, uint64_t version, const char *bytes, size_t size) {
    if ((version & 1) || !is_text(__atomic_load_n(&known->text, __ATOMIC_ACQUIRE), bytes, size)) {
        return 0;
    }
    VALUE symbol = __atomic_load_n(&known->symbol, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&known->version, __ATOMIC_RELAXED) == version ? symbol : 0;
}

/* Another Ractor may have stored, or store now: then this one does not. */
static void know_symbol(known_symbol *known, uint64_t version, VALUE text, VALUE symbol) {
    if ((version & 1) || !__atomic_compare_exchange_n(&known->version, &version, version + 1, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        return;
    }
    __atomic_store_n(&known->text, text, __ATOMIC_RELEASE);
    __atomic_store_n(&known->symbol, symbol, __ATOMIC_RELEASE);
    __atomic_store_n(&known->version, version + 2, __ATOMIC_RELEASE);
}

VALUE tree_key_symbol(const char *bytes, size_t size) {
    if (size > MAX_SYMBOL_BYTES) {
        return make_symbol(bytes, size);
    }
    known_symbol *known = &known_symbols[place_of_key(bytes, size)];
    uint64_t version = __atomic_load_n(&known->version, __ATOMIC_ACQUIRE);
    VALUE symbol = known_symbol_of(known, version, bytes, size);

    if (!symbol) {
        symbol = make_symbol(bytes, size);
        if (symbol != Qundef) {
            know_symbol(known, version, rb_sym2str(symbol), symbol);
        }
    }
    return symbol;
}

static void mark_known_keys(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < KNOWN_KEYS; i++) {
        if (known_strings[i]) {
            rb_gc_mark(known_strings[i]);
        }
        if (known_symbols[i].text) {
            rb_gc_mark(known_symbols[i].text);
            rb_gc_mark(known_symbols[i].symbol);
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
