# frozen_string_literal: true

# The metrics, each in one row: its name, type, unit and description.

require_relative "family"

module Larder
  class Metrics
    # A row: `id`, whose parts are separated by dots; `type`: :counter or :gauge; `unit`: :seconds, :bytes, :ratio or
    # nil; `help`; `labels`: names; `statistic`: of {Cache#stats}, or of {Usage::Counts}, or nil.
    # @api private
    Definition = Struct.new(:id, :type, :unit, :help, :labels, :statistic) do
      # @return [String] as Prometheus has it
      def name
        ["larder", id.tr(".", "_"), *unit, *("total" if type == :counter)].join("_")
      end

      # @param samples [Hash{Hash=>Numeric}] values by labels
      # @return [Family]
      def family(samples)
        Family.new(name, type, unit, help, samples.map { |labels, value| Sample.new(labels, value) }, "larder.#{id}")
      end
    end

    # @api private
    module Catalogue
      # The whole file. A count of Cache#stats has the same name unless there is a third word.
      COUNTS = [
        ["hits", "Reads that the file answered."],
        ["misses", "Reads that the file did not answer."],
        ["stale_hits", "Hits that an expired value answered."],
        ["stores", "Items stored.", :sets],
        ["refused", "Stores refused: a lock timed out, or there was no room."],
        ["deletes", "Deletes that found the key."],
        ["increments", "Counters changed."],
        ["evictions", "Live items dropped to make room."],
        ["expirations", "Expired items, and items of deleted tags, that were dropped."],
        ["promotions", "Items that eviction kept, as they were read or there was room."],
        ["damaged", "Records whose bytes were damaged, each a miss."],
        ["repairs", "Parts of the file repaired after a process was killed in a write."],
        ["resets", "Parts of the file emptied because they were damaged."],
        ["lock_waits", "Waits for a lock of the file."],
        ["leases", "Values that one caller was to compute for all."],
        ["lost_leases", "Computed values not stored, as the key was deleted or written before."],
        ["waits", "Waits for a value that another caller computed."],
        ["refreshes", "Values computed again while the old one was served."],
        ["lone_computes", "Values that a caller computed for itself while another one did, too."],
        ["tag_deletes", "Tags deleted."],
        ["tag_misses", "Reads of an item whose tag was deleted."],
        ["forgotten_tags", "Deletions of tags that were forgotten for newer ones."],
        ["forgotten_misses", "Misses of items that were dropped with a forgotten deletion."]
      ].freeze
      GAUGES = [
        ["items", nil, "Items in the file, expired ones included."],
        ["size", :bytes, "Size of the file.", :size_bytes],
        ["capacity", :bytes, "Room for items and their index.", :capacity_bytes],
        ["used", :bytes, "Room taken by items, deleted ones included.", :used_bytes],
        ["index", :bytes, "Room taken by the index.", :index_bytes],
        ["tag_table", :bytes, "Room taken by the table of deleted tags.", :table_bytes],
        ["pinned", :bytes, "Room taken by pinned items.", :pinned_bytes],
        ["pinned_room", :bytes, "Room that pinned items may take.", :pinned_room_bytes],
        ["hints", :bytes, "Memory taken outside the file.", :hints_bytes],
        ["fullness", :ratio, "Part of the room that is taken; at 1 something is dropped for each store.", :fullness],
        ["age", :seconds, "Time since the file was made; it begins again where a new one takes its place.", :age],
        ["oldest_age", :seconds, "Time since the oldest item was stored.", :oldest_age],
        ["counts_age", :seconds, "Age of the counts of processes in other containers, at most.", :counts_age],
        ["processes", nil, "Processes of this machine that have the file open."],
        ["process_room", nil, "Processes that may have the file open."],
        ["shards", nil, "Independent parts of the file."],
        ["locked_shards", nil, "Shards whose lock is held at this moment."],
        ["configurations", nil, "Configurations of remote: and backplane: that use the file."]
      ].freeze
      # Counts of Usage::Counts by keyspace.
      KEYSPACES = [
        ["hits", nil, "Reads that the file answered, by keyspace."],
        ["misses", nil, "Reads that the file did not answer, by keyspace."],
        ["stale_hits", nil, "Hits that an expired value answered, by keyspace."],
        ["stores", nil, "Items stored, by keyspace."],
        ["stored", :bytes, "Bytes of stored values, by keyspace."],
        ["evictions", nil, "Live items dropped to make room, by keyspace."],
        ["evicted_age", :seconds, "Sum of the ages of evicted items, by keyspace."],
        ["waits", nil, "Waits for a value that another caller computed, by keyspace."],
        ["computes", nil, "Misses after which the value was computed, by keyspace."],
        ["compute", :seconds, "Time from these misses to the stores, by keyspace."]
      ].freeze
      OTHERS = [
        ["statistics_age", :seconds, "Time since a process last added to the statistics by keyspace."],
        ["last_hour.hit", :ratio, "Part of the reads of the last hour that the file answered."],
        ["last_hour.saved", :seconds, "Computing that hits of the last hour have saved, about."],
        ["last_hour.evicted_age", :seconds, "Mean age of the items that were evicted in the last hour."],
        ["remote.waiting", nil, "1: the remote store has not got all changes of this machine, and is not read."],
        ["remote.trusted", nil, "1: this machine answers from its copies. 0: it asks the remote store each time."],
        ["remote.listener", nil, "1: a process of this machine listens to the backplane."],
        ["outbox.changes", nil, "Changes that the remote store has not got; counted up to 1000."],
        ["outbox.overflown", nil, "1: more changes than can be listed; the remote store will be cleared."],
        ["sessions.up", nil, "1: the file of sessions can be used. 0: it cannot, and sign-ins fail."],
        ["sessions.signed_in", nil, "Sessions in which a user is signed in."],
        ["sessions.anonymous", nil, "Sessions without a user."],
        ["sessions.active", nil, "Sessions used within the window.", ["window"]],
        ["sessions.pinned", :bytes, "Room taken by signed-in sessions."],
        ["sessions.pinned_room", :bytes, "Room for signed-in sessions; from 90 % on sign-ins are refused."]
      ].freeze
      private_constant :COUNTS, :GAUGES, :KEYSPACES, :OTHERS

      # In the order in which they are written.
      ALL = [
        Definition.new("up", :gauge, nil, "1: the file can be used, or made by the first use. 0: it cannot.", []),
        Definition.new("build_info", :gauge, nil, "Always 1; the version of Larder.", ["version"]),
        *COUNTS.map { |id, help, stat| Definition.new(id, :counter, nil, help, [], stat || id.to_sym) },
        *GAUGES.map { |id, unit, help, stat| Definition.new(id, :gauge, unit, help, [], stat || id.to_sym) },
        *KEYSPACES.map { |id, unit, help| Definition.new("keyspace.#{id}", :counter, unit, help, ["keyspace"]) },
        *OTHERS.map { |id, unit, help, labels| Definition.new(id, :gauge, unit, help, labels || []) },
        Definition.new("failures", :counter, nil, "Calls of the store that failed, each a miss or not stored.", []),
        Definition.new("sessions.evictions", :counter, nil, "Anonymous sessions dropped to make room.", [])
      ].each(&:freeze).freeze

      # @return [Array<Definition>] those whose values are in Cache#stats
      def self.of_file
        @of_file ||= ALL.select(&:statistic)
      end
    end
  end
end
