/*
 * tree_objects.c — objects that Ruby code takes apart and makes again: Larder::Tree (lib/larder/codecs/tree.rb).
 */
#include "value/tree_objects.h"
#include "base/arguments.h"

static VALUE tree_module, unreadable;
static bool is_loaded;
static ID id_take, id_take_list, id_make, id_case;

bool tree_objects_loaded(void) { return is_loaded; }

VALUE tree_objects_take(VALUE object, VALUE natural, VALUE records) {
    return rb_funcall(tree_module, id_take, 4, object, rb_obj_class(object), natural, records);
}

VALUE tree_objects_take_list(VALUE list, VALUE first, VALUE natural, VALUE records) {
    return rb_funcall(tree_module, id_take_list, 4, list, rb_obj_class(first), natural, records);
}

VALUE tree_objects_make(unsigned code, VALUE parts, bool trusted, VALUE kept, VALUE records) {
    VALUE object =
        rb_funcall(tree_module, id_make, 5, UINT2NUM(code), parts, trusted ? Qtrue : Qfalse, kept, records);

    return object == unreadable ? Qundef : object;
}

static bool is_of(VALUE type, VALUE part) {
    return RB_TYPE_P(type, T_CLASS) ? RTEST(rb_obj_is_kind_of(part, type))
                                    : RTEST(rb_funcall(type, id_case, 1, part));
}

/* Larder::Tree.fit?(parts, types), which is called for each object. */
static VALUE fit(VALUE self, VALUE parts, VALUE types) {
    (void)self;
    glue_check_array(types, "types");
    if (RB_SPECIAL_CONST_P(parts) || RBASIC_CLASS(parts) != rb_cArray || RARRAY_LEN(parts) != RARRAY_LEN(types)) {
        return Qfalse;
    }
    for (long i = 0; i < RARRAY_LEN(types); i++) {
        if (!is_of(rb_ary_entry(types, i), rb_ary_entry(parts, i))) {
            return Qfalse;
        }
    }
    return Qtrue;
}

static bool is_module(VALUE object) { return RB_TYPE_P(object, T_CLASS) || RB_TYPE_P(object, T_MODULE); }

/* Larder::Tree.constant_at(path): Module#const_get of a name takes 7,000 instructions, and each record has one. */
static VALUE constant_at(VALUE self, VALUE path) {
    VALUE found = rb_cObject;

    (void)self;
    glue_check_array(path, "path");
    for (long i = 0; i < RARRAY_LEN(path); i++) {
        if (!is_module(found)) {
            rb_raise(rb_eNameError, "%+" PRIsVALUE " is no class or module", found);
        }
        found = rb_const_get_from(found, rb_sym2id(RARRAY_AREF(path, i)));
    }
    return found;
}

/* Larder::Tree.named?(path, type), which is called for each object of a class of the application. */
static VALUE is_named(VALUE self, VALUE path, VALUE type) {
    VALUE found = rb_cObject;

    (void)self;
    glue_check_array(path, "path");
    for (long i = 0; i < RARRAY_LEN(path); i++) {
        ID name = rb_sym2id(RARRAY_AREF(path, i));
        if (!is_module(found) || !rb_const_defined_at(found, name) || !NIL_P(rb_autoload_p(found, name))) {
            return Qfalse;
        }
        found = rb_const_get_at(found, name);
    }
    return found == type ? Qtrue : Qfalse;
}

/* Larder::Tree._loaded, called when its methods are defined. */
static VALUE set_loaded(VALUE self) {
    is_loaded = true;
    return self;
}

VALUE tree_objects_init(VALUE larder_module) {
    tree_module = rb_define_module_under(larder_module, "Tree");
    unreadable = rb_obj_freeze(rb_obj_alloc(rb_cObject));
    rb_gc_register_mark_object(tree_module);
    rb_gc_register_mark_object(unreadable);
    id_take = rb_intern("take");
    id_take_list = rb_intern("take_list");
    id_make = rb_intern("make");
    id_case = rb_intern("===");
#define DEFINE_CODE(name, code) rb_define_const(tree_module, #name, INT2FIX(code));
    TREE_CODE_LIST(DEFINE_CODE)
#undef DEFINE_CODE
    rb_define_const(tree_module, "UNREADABLE", unreadable);
    rb_define_private_method(rb_singleton_class(tree_module), "fit?", fit, 2);
    rb_define_private_method(rb_singleton_class(tree_module), "constant_at", constant_at, 1);
    rb_define_private_method(rb_singleton_class(tree_module), "named?", is_named, 2);
    rb_define_private_method(rb_singleton_class(tree_module), "_loaded", set_loaded, 0);
    return tree_module;
}
