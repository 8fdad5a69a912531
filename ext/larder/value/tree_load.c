/*
 * tree_load.c — bytes to values (tree_format.h).
 *
 * No byte is trusted: every length is checked against the bytes that are left,
 * every number against what was read, and depth is limited. No byte makes more than
 * a few words of memory. The bytes must not move while objects are made: they are on
 * the C stack, or in a String that the caller keeps.
 */
#include "value/tree_load.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "value/tree_again.h"
#include "value/tree_key.h"
#include "value/tree_objects.h"
#include "value/tree_time.h"

#include <ruby/encoding.h>
#include <math.h>
#include <string.h>

#define MAX_CAPACITY 4096u
#define FEW 8 /* values that are read onto the C stack before their Array is made */

typedef struct {
    const unsigned char *at, *end;
    unsigned depth, shapes, symbols, pooled;
    unsigned nans; /* that were read */
    unsigned steps;
    bool trusted;
    VALUE kept;
    VALUE ended, extents; /* objects that have ended, and their extents; nil: they are not numbered */
    tree_reach reach;
    VALUE records; /* that Larder::Tree has made so far */
    struct {
        uint16_t first, count;
    } shape[TREE_SHAPES];
    VALUE pool[TREE_POOL];
    VALUE symbol[TREE_SYMBOLS];
} reader;

static VALUE load_value(reader *r);

/* Lets signals, timeouts and other threads in. */
static inline void step(reader *r) {
    if (++r->steps % STEPS == 0) {
        rb_thread_check_ints();
    }
}

static inline size_t left(const reader *r) { return (size_t)(r->end - r->at); }

/* False: there is no whole number of at most 35 bits. */
static bool take_count(reader *r, size_t *count) {
    size_t number = 0;

    for (unsigned i = 0; i < 5 && r->at < r->end; i++) {
        unsigned byte = *r->at++;
        number |= (size_t)(byte & 127) << 7 * i;
        if (byte < 128) {
            *count = number;
            return true;
        }
    }
    return false;
}

/* The same for a number of bytes that follow, or of values of at least one byte. */
static bool take_size(reader *r, size_t *size) { return take_count(r, size) && *size <= left(r); }

static VALUE load_text(reader *r, size_t size, int encoding) {
    VALUE string = rb_str_new((const char *)r->at, (long)size);

    r->at += size;
    RB_ENCODING_SET_INLINED(string, encoding); /* allowed, as the code range of a new String is not known yet */
    return string;
}

static VALUE load_string(reader *r, int encoding) {
    size_t size;

    return take_size(r, &size) ? load_text(r, size, encoding) : Qundef;
}

static VALUE load_number(reader *r, unsigned bytes) {
    uint64_t number = 0;

    if (left(r) < bytes) {
        return Qundef;
    }
    for (unsigned i = 0; i < bytes; i++) {
        number |= (uint64_t)*r->at++ << 8 * i;
    }
    unsigned above = 64 - 8 * bytes;
    return LL2NUM((int64_t)(number << above) >> above);
}

static VALUE load_double(reader *r) {
    uint64_t bits = 0;
    double number;

    if (left(r) < 8) {
        return Qundef;
    }
    for (unsigned i = 0; i < 8; i++) {
        bits |= (uint64_t)*r->at++ << 8 * i;
    }
    memcpy(&number, &bits, sizeof number);
    r->nans += isnan(number) ? 1 : 0;
    return DBL2NUM(number);
}

static VALUE load_symbol(reader *r) {
    size_t size;

    if (!take_size(r, &size)) {
        return Qundef;
    }
    VALUE symbol = tree_key_symbol((const char *)r->at, size);
    r->at += size;
    if (symbol != Qundef && r->symbols < TREE_SYMBOLS) {
        r->symbol[r->symbols++] = symbol;
    }
    return symbol;
}

static VALUE load_symbol_again(reader *r) {
    size_t number;

    return take_count(r, &number) && number < r->symbols ? r->symbol[number] : Qundef;
}

/* Values that follow; false: one is not whole. */
static bool load_values(reader *r, size_t count, VALUE *values) {
    for (size_t i = 0; i < count; i++) {
        step(r);
        if ((values[i] = load_value(r)) == Qundef) {
            return false;
        }
    }
    return true;
}

static VALUE load_array(reader *r) {
    VALUE few[FEW];
    size_t count;

    if (!take_size(r, &count)) {
        return Qundef;
    }
    if (count <= FEW) {
        return load_values(r, count, few) ? rb_ary_new_from_values((long)count, few) : Qundef;
    }
    /* Limited, as each of nested lists could name as many as there are bytes. */
    VALUE array = rb_ary_new_capa((long)(count < MAX_CAPACITY ? count : MAX_CAPACITY));
    for (size_t i = 0; i < count; i++) {
        step(r);
        VALUE value = load_value(r);
        if (value == Qundef) {
            return Qundef;
        }
        rb_ary_push(array, value);
    }
    return array;
}

/* ---- Hashes ---- */

static VALUE new_hash(size_t count) {
#ifdef HAVE_RB_HASH_NEW_CAPA
    return rb_hash_new_capa((long)(count < MAX_CAPACITY ? count : MAX_CAPACITY));
#else
    (void)count;
    return rb_hash_new();
#endif
}

/* Keys are refused that contain NaNs: all of them have the same hash and equal nothing, so a Hash of many would
 * take forever. */
static VALUE load_hash(reader *r) {
    size_t count;

    if (!take_size(r, &count) || 2 * count > left(r)) {
        return Qundef;
    }
    VALUE hash = new_hash(count);
    for (size_t i = 0; i < count; i++) {
        unsigned nans = r->nans;
        step(r);
        VALUE key = load_value(r);
        VALUE value = key == Qundef || r->nans != nans ? Qundef : load_value(r);
        if (value == Qundef) {
            return Qundef;
        }
        rb_hash_aset(hash, key, value);
    }
    return hash;
}

static VALUE load_shaped(reader *r, size_t number) {
    if (number >= r->shapes) {
        return Qundef;
    }
    unsigned count = r->shape[number].count;
    unsigned first = r->shape[number].first;
    VALUE *pairs = ALLOCA_N(VALUE, 2 * count);
    for (unsigned i = 0; i < count; i++) {
        pairs[2 * i] = r->pool[first + i];
        pairs[2 * i + 1] = Qnil;
    }
    for (unsigned i = 0; i < count; i++) {
        if ((pairs[2 * i + 1] = load_value(r)) == Qundef) {
            return Qundef;
        }
    }
    VALUE hash = new_hash(count);
    rb_hash_bulk_insert(2 * count, pairs, hash);
    return hash;
}

/* A Symbol, or the one frozen String of its text; Qundef: no key of a shape. */
static VALUE load_key(reader *r) {
    unsigned tag = r->at < r->end ? *r->at : (unsigned)TREE_NIL;
    size_t size = tag & 31;

    if (tag >= TREE_TEXT && tag < TREE_NIL && size < left(r)) { /* nearly always */
        VALUE key = tree_key((const char *)r->at + 1, size);
        r->at += 1 + size;
        return key;
    }
    if (tag < TREE_UTF8 || tag > TREE_SYMBOL_AGAIN) {
        return Qundef;
    }
    VALUE key = load_value(r);
    return key == Qundef || SYMBOL_P(key) ? key : rb_str_to_interned_str(key);
}

static VALUE load_new_shape(reader *r) {
    size_t count;

    if (!take_size(r, &count) || count == 0 || count > TREE_SHAPE_KEYS || r->pooled + count > TREE_POOL ||
        r->shapes == TREE_SHAPES) {
        return Qundef;
    }
    unsigned first = r->pooled;
    for (size_t i = 0; i < count; i++) {
        VALUE key = load_key(r);
        if (key == Qundef) {
            return Qundef;
        }
        r->pool[r->pooled++] = key;
    }
    r->shape[r->shapes].first = (uint16_t)first;
    r->shape[r->shapes].count = (uint16_t)count;
    return load_shaped(r, r->shapes++);
}

static VALUE load_shape_again(reader *r) {
    size_t number;

    return take_count(r, &number) ? load_shaped(r, number) : Qundef;
}

/* A Time, by Larder::Tree where it has to be asked. */
static VALUE made_time(const reader *r, const VALUE parts[TREE_TIME_PARTS]) {
    VALUE time = tree_time_made(parts);

    return time != Qundef || !tree_objects_loaded()
               ? time
               : tree_objects_make(TREE_CODE_TIME, rb_ary_new_from_values(TREE_TIME_PARTS, parts), r->trusted,
                                   r->kept, r->records);
}

/* Without an Array of its parts, which are not numbered. */
static VALUE load_time(reader *r) {
    VALUE parts[TREE_TIME_PARTS];

    r->at += 2;
    return load_values(r, TREE_TIME_PARTS, parts) ? made_time(r, parts) : Qundef;
}

static VALUE load_other(reader *r) {
    if (r->at == r->end) {
        return Qundef;
    }
    unsigned code = *r->at++, nans = r->nans;
    if (code == TREE_CODE_TIME && NIL_P(r->ended) && left(r) > 2 && r->at[0] == TREE_ARRAY &&
        r->at[1] == TREE_TIME_PARTS) {
        return load_time(r);
    }
    VALUE parts = load_value(r);
    if (parts == Qundef || (code == TREE_CODE_SET && r->nans != nans)) {
        return Qundef;
    }
    if (code == TREE_CODE_TIME && RB_TYPE_P(parts, T_ARRAY) && RARRAY_LEN(parts) == TREE_TIME_PARTS) {
        VALUE time = made_time(r, RARRAY_CONST_PTR(parts));
        RB_GC_GUARD(parts);
        return time;
    }
    if (!tree_objects_loaded()) {
        return Qundef;
    }
    if ((code == TREE_CODE_RECORD || code == TREE_CODE_RECORDS) && NIL_P(r->records)) {
        r->records = rb_ary_new();
    }
    return tree_objects_make(code, parts, r->trusted, r->kept, r->records);
}

/* ---- any value ---- */

__attribute__((noinline, cold)) static VALUE load_numbered(reader *r, VALUE (*load)(reader *)) {
    const unsigned char *start = r->at;
    tree_reach before = r->reach;

    r->reach.deepest = r->depth;
    VALUE value = load(r);
    if (value != Qundef) {
        uint64_t bytes = (uint64_t)(r->at - start) + r->reach.again_bytes - before.again_bytes;
        rb_ary_push(r->ended, value);
        rb_ary_push(r->extents, tree_again_extent(0, r->reach.deepest - r->depth + 1, bytes));
        r->reach.deepest = before.deepest > r->reach.deepest ? before.deepest : r->reach.deepest;
    }
    return value;
}

static VALUE load_within(reader *r, VALUE (*load)(reader *)) {
    if (r->depth == TREE_DEPTH) {
        return Qundef;
    }
    glue_check_stack();
    r->depth++;
    step(r);
    VALUE value = NIL_P(r->ended) ? load(r) : load_numbered(r, load);
    r->depth--;
    return value;
}

static VALUE load_again(reader *r) {
    size_t number;

    if (NIL_P(r->ended) || !take_count(r, &number) || number >= (size_t)RARRAY_LEN(r->ended) ||
        !tree_again(&r->reach, r->depth, rb_ary_entry(r->extents, (long)number))) {
        return Qundef;
    }
    r->nans += r->nans ? 1 : 0; /* the object may hold some */
    return rb_ary_entry(r->ended, (long)number);
}

static VALUE load_tagged(reader *r, unsigned tag) {
    switch (tag) {
    case TREE_NIL:
        return Qnil;
    case TREE_FALSE:
        return Qfalse;
    case TREE_TRUE:
        return Qtrue;
    case TREE_INT8:
    case TREE_INT16:
    case TREE_INT32:
    case TREE_INT64:
        return load_number(r, 1u << (tag - TREE_INT8));
    case TREE_DOUBLE:
        return load_double(r);
    case TREE_UTF8:
        return load_string(r, rb_utf8_encindex());
    case TREE_BINARY:
        return load_string(r, rb_ascii8bit_encindex());
    case TREE_USASCII:
        return load_string(r, rb_usascii_encindex());
    case TREE_SYMBOL:
        return load_symbol(r);
    case TREE_SYMBOL_AGAIN:
        return load_symbol_again(r);
    case TREE_ARRAY:
        return load_within(r, load_array);
    case TREE_HASH:
        return load_within(r, load_hash);
    case TREE_NEW_SHAPE:
        return load_within(r, load_new_shape);
    case TREE_SHAPE_AGAIN:
        return load_within(r, load_shape_again);
    case TREE_OTHER:
        return load_within(r, load_other);
    case TREE_AGAIN:
        return load_again(r);
    default:
        return Qundef;
    }
}

static VALUE load_short_shape(reader *r) { return load_shaped(r, r->at[-1] & 31u); }

static VALUE load_value(reader *r) {
    if (r->at == r->end) {
        return Qundef;
    }
    unsigned tag = *r->at++;
    if (tag < TREE_TEXT) {
        return INT2FIX((int)tag);
    }
    if (tag < TREE_NIL) {
        size_t size = tag & 31;
        return size <= left(r) ? load_text(r, size, rb_utf8_encindex()) : Qundef;
    }
    if (tag >= TREE_NEGATIVE) {
        return INT2FIX((int)tag - 256);
    }
    return tag >= TREE_SHAPE ? load_within(r, load_short_shape) : load_tagged(r, tag);
}

VALUE tree_load(const char *bytes, size_t size_bytes, bool trusted, VALUE kept) {
    reader r;

    glue_check_stack();
    r.at = (const unsigned char *)bytes;
    r.end = r.at + size_bytes;
    r.depth = r.shapes = r.symbols = r.pooled = r.nans = r.steps = 0;
    r.trusted = trusted;
    r.kept = kept;
    r.ended = r.extents = r.records = Qnil;
    r.reach = (tree_reach){0, 0};
    if (r.at < r.end && *r.at == TREE_NUMBERED) {
        r.at++;
        r.ended = rb_ary_new();
        r.extents = rb_ary_new();
    }
    VALUE value = load_value(&r);
    return r.at == r.end ? value : Qundef;
}

/* Larder::Tree.load(bytes, trusted, kept): the value in an Array, as it may be nil; or nil. */
static VALUE load(VALUE self, VALUE bytes, VALUE trusted, VALUE kept) {
    (void)self;
    glue_check_string(bytes, "bytes");
    VALUE value = tree_load(RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes), RTEST(trusted), kept);
    RB_GC_GUARD(bytes);
    return value == Qundef ? Qnil : rb_ary_new_from_args(1, value);
}

void tree_load_init(VALUE tree_module) {
    rb_define_singleton_method(tree_module, "load", load, 3);
    tree_key_init();
}
