# frozen_string_literal: true

# Mutations of the engine's protocols, each without one step; the proof by interleavings has to find each. Writes
# changed copies of the sources.

require "fileutils"

module Proof
  # See LIST.
  module Mutations
    # One change of one source, and the scenarios (a part of their names) in which it must show.
    Mutation = Struct.new(:name, :file, :from, :to, :scenario, :preemptions, :memory, :quick, keyword_init: true) do
      # @param root [String] of the repository
      # @param directory [String] for the copy
      # @return [String, nil] the path of the changed copy; nil where the source has no such place any more
      def write(root, directory)
        text = File.read(File.join(root, "engine/src", file))
        return if text.scan(from).size != 1

        path = File.join(directory, name.tr("^a-z", "-"), file)
        FileUtils.mkdir_p(File.dirname(path))
        File.write(path, text.sub(from) { to })
        path
      end
    end

    def self.mutation(name, file, from, to, scenario, preemptions: 2, memory: "sc", quick: false)
      Mutation.new(name: name, file: file, from: from, to: to, scenario: scenario, preemptions: preemptions,
                   memory: memory, quick: quick)
    end
    private_class_method :mutation

    APPENDED = ["    append(view, offset, generation, op);\n",
                "    lard_segment_commit(view, offset, bytes, op->spec.expiry_ms);\n"].freeze
    private_constant :APPENDED

    LIST = [
      mutation("get does not look at the slot again", "api/get.c",
               "lard_load(slot) != value || lard_load(&view.header->epoch) != epoch",
               "lard_load(&view.header->epoch) != epoch", "recycle", quick: true),
      mutation("the full lookup does not look at the slot again", "item/lookup.c",
               "lard_load(hit->slot) != hit->slot_value ||", "", "new to the cache"),
      mutation("the generation is not raised", "segment/segment.c",
               "lard_load(&row->generation) + 1", "lard_load(&row->generation)", "recycle"),
      mutation("slots are not emptied before their segment is free", "evict/evict.c",
               "move_or_drop(cache, view, &batch[i], state, min_reads, &key, now_ms);", "(void)move_or_drop;",
               "recycle", quick: true),
      mutation("an item on its way is not marked", "index/index_resize.c",
               "uint64_t pending = value | LARD_SLOT_PENDING;", "uint64_t pending = value;", "mov"),
      mutation("a move is not announced", "index/index_resize.c",
               "lard_store_release(&view->header->moves, moves);", "", "mov"),
      mutation("a split is not announced", "index/index_resize.c",
               "lard_store_release(&view->header->splitting, source + 1);", "", "split"),
      mutation("a lock is let go of before what was written is seen", "shard/shard.c",
               "if (LARD_UNLIKELY(!lard_cas32(&view->header->lock, &word, 0))) {",
               "lard_store(&view->header->lock, 0);\n    if (word != view->owner) {", "two increments", memory: "weak"),
      mutation("a delete does not look for changes of the index", "index/index.c",
               "lard_load_acquire(&view->header->splitting) == splitting && lard_load(&view->header->moves) == moves &&
            lard_bucket_count(view) == count", "true", "delete"),
      mutation("a delete leaves the original of a published split", "index/index.c",
               "if (splitting && splitting - 1 < count) {", "if (false) {", "split", quick: true),
      mutation("a counter's cell is written while it counts", "segment/counter.c",
               "== 0 ? 1 : 0;", "== 0 ? 0 : 1;", "increment"),
      mutation("a counter's seal is not looked at again", "segment/counter.c",
               "best >= 0 && lard_load(&cells[2 * best + 1]) == sealed ? best : -1", "sealed ? best : -1",
               "increments", preemptions: 3),
      mutation("an increment does not insist on the slot it read", "api/increment.c",
               "status == LARDER_OK ? LARD_IF_SLOT : LARD_IF_ANY", "LARD_IF_ANY", "increment of text"),
      mutation("a lock is taken from the living", "shard/shard.c",
               "lard_process_alive(cache, view->map, word & ~LARD_LOCK_WAITERS)", "false", "sets", preemptions: 3),
      mutation("a repair leaves splits and moves as they are", "shard/repair.c",
               "lard_index_resize_finish(view);", "", "whose owner died"),
      mutation("a refused store leaves the old value", "item/put.c",
               "return condition == LARD_IF_ANY || condition == LARD_IF_PRESENT;", "return false && condition;",
               "refused", preemptions: 3),
      mutation("a compare-and-swap does not insist on the slot it compared", "item/write.c",
               "return (found->slot ? found->value : 0) == op->expected_slot;", "return true;", "compare-and-swap"),
      mutation("a compare-and-swap does not insist on the expiry it compared", "item/write.c",
               "expires_at(view, found, op->expected_expiry_ms);", "true;", "names the life"),
      mutation("a number that a compare-and-swap makes plain keeps the expiry of before", "api/increment.c",
               "take_over(&op.spec, &info); /*", "/*", "names the life"),
      mutation("a number is read with the life of before", "item/lookup.c",
               "if (lard_load(&lard_view_words(&view, hit->offset)[1]) != hit->info.word1) {", "if (false) {",
               "an increment"),
      mutation("an add of what has expired drops what came meanwhile", "api/set.c",
               "if (store->mode == LARDER_ADD) {",
               "if (store->mode == LARDER_ADD && " \
               "(larder_exists(cache, store->key, store->key_bytes, NULL, call) == LARDER_OK || " \
               "!lard_drop(map, key, call->now_ms))) {",
               "what has expired"),
      mutation("a value is stored under a lease that has ended", "item/lease.c",
               "lard_extension_has_token(&hit->extension, token);", "true || token;",
               "an owner beyond its lease", quick: true),
      mutation("a value is stored over what came after the lease was looked at", "item/lease.c",
               "once.condition = LARD_IF_SLOT;", "once.condition = LARD_IF_ANY;", "a delete and the next lease"),
      mutation("a lease is taken over what came after the key was looked at", "item/extended.c",
               ".condition = hit->slot ? LARD_IF_SLOT_AND_EXPIRY : LARD_IF_SLOT,", ".condition = LARD_IF_ANY,",
               "two take the lease of a key"),
      mutation("a lease is taken from the living", "item/lease.c",
               "if (is_leased(cache, map, &hit)) {", "if (false) {", "two take the lease of a key"),
      mutation("a lease that moved is taken for one that has ended", "item/lease.c",
               "for (int i = 0; i < ATTEMPTS && status == LARDER_NOT_STORED; i++) {",
               "for (int i = 0; i < 1 && status == LARDER_NOT_STORED; i++) {", "a placeholder is moved"),
      mutation("who ends a lease drops what came after it", "index/index.c",
               "if (LARD_UNLIKELY(found->only) && settled != found->only) {", "if (false) {", "a lease that is ended"),
      mutation("a deletion of a tag has the stamp of values that are being computed", "segment/stamp.c",
               "return stamp + 1;", "return stamp;",
               "a tag is deleted while a value of it is computed, a read", quick: true),
      mutation("a value with tags is stored over a clear", "item/write.c",
               "if (LARD_UNLIKELY(op->origin) && !has_origin(view, op->origin)) {",
               "if (false && has_origin(view, 0)) {", "a clear, the deletion of a tag"),
      mutation("a deletion of a tag leaves the count of deletions as it was", "item/tagged.c",
               "uint64_t stamp = lard_stamp_raise(map);", "uint64_t stamp = lard_stamp_now(map) + 1;",
               "a stamp and a set while a tag is deleted"),
      mutation("the zeros after a long record go on in the next segment", "segment/image.c",
               "to_page < to_end ? to_page : to_end}", "to_end ? to_page : 0}", "pwrite recycles", quick: true),
      mutation("a long record has the seal of another place", "segment/image.c",
               "LARD_ORIGIN(offset, generation))};", "LARD_ORIGIN(offset + 8, generation))};", "set by pwrite"),
      mutation("a part of a pwrite is taken for the whole", "base/io.c",
               "bytes -= (size_t)done;", "bytes = 0;", "the key is set by pwrite"),
      mutation("a segment has a record before its bytes are there", "item/write.c", APPENDED.join,
               APPENDED.reverse.join, "dead pwrite"),
      mutation("a shard is open again before it is empty", "shard/repair.c",
               "lard_store(&view->header->epoch, 0);",
               "lard_store(&view->header->epoch, LARD_EPOCH(lard_load(&view->map->control->clear_epoch), emptied));",
               "clear")
    ].freeze
  end
end
