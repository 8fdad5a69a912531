/*
 * operations.h — the operations that operations.c performs by command, each with its check.
 */
#ifndef LARD_FUZZ_OPERATIONS_H
#define LARD_FUZZ_OPERATIONS_H

#include "model.h"
#include "stream.h"

enum {
    OPERATIONS_MOST = 64, /* keys of one multi operation */
    OPERATIONS = 24       /* op modulo this is the operation, op / this its form */
};

/* What a key has if the operation under way succeeds. */
typedef struct {
    unsigned key;
    model_entry entry;
} operations_attempt;

extern larder *cache;
extern operations_attempt attempts[OPERATIONS_MOST];
extern unsigned attempt_count;
extern uint64_t appended; /* bytes of records, since the cache was empty */
extern uint64_t worked;   /* bytes of values, of this input */

void operations_begin(void); /* each input by itself */
unsigned operations_key(uint16_t number);
const larder_call *operations_call(const command *c);
int64_t operations_ttl(const command *c);
int64_t operations_expiry(int64_t ttl_ms);

/* What the key has if the operation succeeds; to be told before it begins. */
void operations_attempt_at(unsigned key, const model_entry *entry);
bool operations_is_large(const model_entry *entry);
void operations_stored(unsigned key, const model_entry *entry, uint64_t evictions_before);
/* Aborts unless that is a right refusal of `wanted`; NULL: only a lock may be refused. */
void operations_refused(unsigned key, const model_entry *wanted, larder_status status, bool overwrites,
                        const larder_call *call);

void pinning_begin(void);
void pinning_died(void);
bool pinning_chosen(const command *c);
bool pinning_may_be_refused(unsigned key, const model_entry *wanted, larder_status status);
void pinning_check(bool exact);

void operation_get(const command *c);
void operation_get_multi(const command *c);
void operation_store(const command *c, larder_mode mode);
void operation_set_multi(const command *c);
void operation_cas(const command *c);
void operation_delete(const command *c);
void operation_increment(const command *c);
void operation_touch(const command *c);
void operation_scan(const command *c);
void operation_prune(const command *c);
void operation_clear(void);
void operation_verify(void);
void operation_misuse(const command *c);

#endif
