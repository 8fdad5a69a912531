/*
 * tree_dump.c — values to bytes (tree_format.h).
 */
#include "value/tree_dump.h"
#include "base/errors.h"
#include "value/tree_objects.h"
#include "value/tree_shapes.h"
#include "value/tree_time.h"

#include <ruby/encoding.h>
#include <string.h>

static ID id_compare_by_identity, id_compare_by_identity_p, id_default, id_default_proc, id_keeps_p;

static bool dump_value(writer *w, VALUE value);

/* ---- Hashes ---- */

static bool dump_keys(writer *w, const VALUE *pairs, unsigned count) {
    if (!room(w, 3)) {
        return false;
    }
    put(w, TREE_NEW_SHAPE);
    put_count(w, count);
    w->shape[w->shapes].first = (uint16_t)w->pooled;
    w->shape[w->shapes].count = (uint16_t)count;
    for (unsigned i = 0; i < count; i++) {
        if (!dump_value(w, pairs[2 * i])) {
            return false;
        }
        w->pool[w->pooled++] = pairs[2 * i];
    }
    w->shapes++;
    return true;
}

static bool put_shape(writer *w, unsigned number) {
    if (!room(w, 3)) {
        return false;
    }
    if (number < 32) {
        put(w, TREE_SHAPE | number);
    } else {
        put(w, TREE_SHAPE_AGAIN);
        put_count(w, number);
    }
    return true;
}

static bool dump_shaped(writer *w, const VALUE *pairs, unsigned count) {
    unsigned number = tree_shapes_find(w, pairs, count);
    bool is_new = number == w->shapes;

    if (is_new && (number == TREE_SHAPES || w->pooled + count > TREE_POOL)) {
        return false;
    }
    w->last = number;
    if (!(is_new ? dump_keys(w, pairs, count) : put_shape(w, number))) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!dump_value(w, pairs[2 * i + 1])) {
            return false;
        }
    }
    return true;
}

static int dump_pair(VALUE key, VALUE value, VALUE argument) {
    writer *w = (writer *)argument;
    unsigned nans = w->nans;

    step(w);
    if (dump_value(w, key) && w->nans == nans && dump_value(w, value)) {
        return ST_CONTINUE;
    }
    w->depth = TREE_DEPTH + 1; /* marks that it ended early */
    return ST_STOP;
}

static bool dump_pairs(writer *w, VALUE hash) {
    unsigned depth = w->depth;
    size_t count = RHASH_SIZE(hash);

    if (!room(w, 12)) {
        return false;
    }
    put(w, TREE_HASH);
    put_count(w, count);
    rb_hash_foreach(hash, dump_pair, (VALUE)w);
    return w->depth == depth && RHASH_SIZE(hash) == count;
}

/* Ruby has no function for these three. */
static bool is_special(VALUE hash) {
    return rb_funcallv(hash, id_default, 0, NULL) != Qnil || rb_funcallv(hash, id_default_proc, 0, NULL) != Qnil ||
           rb_funcallv(hash, id_compare_by_identity_p, 0, NULL) != Qfalse;
}

static bool dump_hash(writer *w, VALUE hash) {
    if (is_special(hash)) {
        return false;
    }
    size_t count = RHASH_SIZE(hash); /* now, as is_special() may run Ruby */
    if (!tree_shapes_allow(w, count)) {
        return dump_pairs(w, hash);
    }
    tree_shapes_pairs taken = {ALLOCA_N(VALUE, 2 * count), 0, (unsigned)count, true};
    rb_hash_foreach(hash, tree_shapes_take_pair, (VALUE)&taken);
    return taken.named && taken.count == count ? dump_shaped(w, taken.pairs, taken.count) : dump_pairs(w, hash);
}

/* ---- other objects ---- */

/* `taken`: code and parts of an object, or nil. */
static bool dump_taken(writer *w, VALUE taken) {
    if (NIL_P(taken) || !room(w, 2)) {
        return false;
    }
    if (NIL_P(w->taken)) {
        w->taken = rb_ary_new();
    }
    unsigned code = NUM2UINT(rb_ary_entry(taken, 0)) & 255, nans = w->nans;
    put(w, TREE_OTHER);
    put(w, code);
    rb_ary_push(w->taken, taken); /* kept alive, as remembered keys and seen objects may be in it */
    return dump_value(w, rb_ary_entry(taken, 1)) && (code != TREE_CODE_SET || w->nans == nans);
}

/* Has this one object methods of its own? */
static bool is_singular(VALUE object) {
    return !RB_SPECIAL_CONST_P(object) && RBASIC_CLASS(object) != rb_obj_class(object);
}

/* One list for all records of the value, which may refer to one another. */
static VALUE records_of(writer *w, VALUE object) {
    if (!RB_TYPE_P(object, T_OBJECT)) {
        return Qnil;
    }
    return NIL_P(w->records) ? (w->records = rb_ary_new()) : w->records;
}

/* Records share what they have loaded, Structs their class, so a list of them is taken as a whole; but Structs
 * that are numbered are not. */
static VALUE list_taken(writer *w, VALUE array) {
    VALUE first = rb_ary_entry(array, 0);

    if (!(RB_TYPE_P(first, T_OBJECT) || (RB_TYPE_P(first, T_STRUCT) && NIL_P(w->extents))) ||
        !tree_objects_loaded()) {
        return Qnil;
    }
    for (long i = 0; i < RARRAY_LEN(array); i++) {
        if (is_singular(RARRAY_AREF(array, i))) {
            return Qnil;
        }
    }
    return tree_objects_take_list(array, first, w->natural, records_of(w, first));
}

/* The Structs of a list are objects of the value as well. */
static bool add_structs(writer *w, VALUE array) {
    for (long i = 0; i < RARRAY_LEN(array) && !w->repeated; i++) {
        VALUE object = RARRAY_AREF(array, i);
        w->repeated = RB_TYPE_P(object, T_STRUCT) && !tree_again_add(&w->seen, object);
    }
    return !w->repeated;
}

/* ---- any value ---- */

static bool dump_array(writer *w, VALUE array) {
    VALUE taken = list_taken(w, array);
    long count = RARRAY_LEN(array);

    if (!NIL_P(taken)) {
        return add_structs(w, array) && dump_taken(w, taken);
    }
    if (!room(w, 12)) {
        return false;
    }
    put(w, TREE_ARRAY);
    put_count(w, (size_t)count);
    for (long i = 0; i < count; i++) { /* Ruby code that takes objects apart, or a thread, may shorten it */
        step(w);
        if (!dump_value(w, rb_ary_entry(array, i))) {
            return false;
        }
    }
    return RARRAY_LEN(array) == count;
}

/* Of a time, its parts without Larder::Tree. */
static bool dump_time(writer *w, VALUE time) {
    VALUE parts[TREE_TIME_PARTS];

    if (!tree_time_parts(time, parts) || !room(w, 4)) {
        return false;
    }
    put(w, TREE_OTHER);
    put(w, TREE_CODE_TIME);
    put(w, TREE_ARRAY);
    put(w, TREE_TIME_PARTS);
    for (unsigned i = 0; i < TREE_TIME_PARTS; i++) {
        if (!dump_value(w, parts[i])) {
            return false;
        }
    }
    return true;
}

static bool dump_other(writer *w, VALUE object) {
    if (RBASIC_CLASS(object) == rb_cTime && NIL_P(w->extents) && dump_time(w, object)) {
        return true;
    }
    return tree_objects_loaded() && dump_taken(w, tree_objects_take(object, w->natural, records_of(w, object)));
}

static bool dump_within(writer *w, VALUE object, bool (*dump)(writer *, VALUE)) {
    bool done = false;

    glue_check_stack();
    if (w->depth < TREE_DEPTH) {
        w->depth++;
        done = dump(w, object);
        w->depth--;
    }
    return done;
}

static bool dump_again(writer *w, VALUE extent) {
    if (NIL_P(extent) || !room(w, 6) || !tree_again(&w->reach, w->depth, extent)) {
        return false;
    }
    put(w, TREE_AGAIN);
    put_count(w, tree_again_extent_number(extent));
    w->nans += w->nans ? 1 : 0; /* the object may hold some */
    return true;
}

__attribute__((noinline, cold)) static bool dump_numbered(writer *w, VALUE object, bool (*dump)(writer *, VALUE)) {
    VALUE extent = rb_hash_lookup2(w->extents, object, Qundef);
    if (extent != Qundef) {
        return dump_again(w, extent);
    }
    tree_reach before = w->reach;
    size_t start = written(w);

    rb_hash_aset(w->extents, object, Qnil);
    w->reach.deepest = w->depth + 1;
    if (!dump_within(w, object, dump)) {
        return false;
    }
    uint64_t bytes = written(w) - start + w->reach.again_bytes - before.again_bytes;
    extent = tree_again_extent(w->number++, w->reach.deepest - w->depth, bytes);
    rb_hash_aset(w->extents, object, extent);
    w->reach.deepest = before.deepest > w->reach.deepest ? before.deepest : w->reach.deepest;
    return true;
}

static bool dump_nested(writer *w, VALUE object, bool (*dump)(writer *, VALUE)) {
    step(w);
    if (!NIL_P(w->extents)) {
        return dump_numbered(w, object, dump);
    }
    if (!tree_again_add(&w->seen, object)) {
        w->repeated = true;
        return false;
    }
    return dump_within(w, object, dump);
}

/* Does the class of the object say how it is cached? Methods of its own do not matter then. */
static bool is_kept(const writer *w, VALUE object) {
    return !RB_SPECIAL_CONST_P(w->natural) && RTEST(rb_funcall(w->natural, id_keeps_p, 1, rb_obj_class(object)));
}

static bool dump_object(writer *w, VALUE object) {
    VALUE class = RBASIC_CLASS(object);

    if (class == rb_cString && tree_shapes_is_plain(object)) {
        return !rb_ivar_count(object) && dump_string(w, object);
    }
    if (class == rb_cArray || class == rb_cHash) {
        return !rb_ivar_count(object) && dump_nested(w, object, class == rb_cArray ? dump_array : dump_hash);
    }
    return (!is_singular(object) || is_kept(w, object)) && dump_nested(w, object, dump_other);
}

static bool dump_value(writer *w, VALUE value) {
    if (FIXNUM_P(value)) {
        return dump_integer(w, FIX2LONG(value));
    }
    if (SYMBOL_P(value)) {
        return dump_symbol(w, value);
    }
    if (RB_FLOAT_TYPE_P(value)) {
        return dump_double(w, RFLOAT_VALUE(value));
    }
    if (NIL_P(value) || value == Qtrue || value == Qfalse) {
        return dump_constant(w, NIL_P(value) ? TREE_NIL : value == Qtrue ? TREE_TRUE : TREE_FALSE);
    }
    return !RB_SPECIAL_CONST_P(value) && dump_object(w, value);
}

static bool dump_whole(writer *w, VALUE value, VALUE extents) {
    w->depth = w->shapes = w->symbols = w->pooled = w->last = w->nans = w->steps = 0;
    w->extents = extents;
    w->number = 0;
    w->reach = (tree_reach){0, 0};
    w->records = w->taken = Qnil;
    w->repeated = false;
    tree_again_init(&w->seen);
    w->out = rb_str_buf_new(FIRST_BYTES);
    w->at = RSTRING_PTR(w->out);
    w->end = w->at + rb_str_capacity(w->out);
    if (!NIL_P(extents)) {
        put(w, TREE_NUMBERED);
    }
    return dump_value(w, value);
}

VALUE tree_dump(VALUE value, VALUE natural) {
    writer w;

    glue_check_stack();
    w.natural = natural;
    bool done = dump_whole(&w, value, Qnil);
    if (!done && w.repeated) {
        done = dump_whole(&w, value, rb_funcallv(rb_hash_new(), id_compare_by_identity, 0, NULL));
    }
    if (!done) {
        return Qundef;
    }
    rb_str_set_len(w.out, w.at - RSTRING_PTR(w.out));
    return w.out;
}

/* Larder::Tree.dump(value, natural): a String, or nil. */
static VALUE dump(VALUE self, VALUE value, VALUE natural) {
    VALUE bytes = tree_dump(value, natural);

    (void)self;
    return bytes == Qundef ? Qnil : bytes;
}

static VALUE singular_p(VALUE self, VALUE object) {
    (void)self;
    return is_singular(object) ? Qtrue : Qfalse;
}

void tree_dump_init(VALUE tree_module) {
    id_keeps_p = rb_intern("keeps?");
    id_compare_by_identity = rb_intern("compare_by_identity");
    id_compare_by_identity_p = rb_intern("compare_by_identity?");
    id_default = rb_intern("default");
    id_default_proc = rb_intern("default_proc");
    tree_time_init();
    rb_define_singleton_method(tree_module, "dump", dump, 2);
    rb_define_singleton_method(tree_module, "singular?", singular_p, 1);
}
