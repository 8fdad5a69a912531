# frozen_string_literal: true

# The base of processes that measure one contender: opens the store, verifies that it keeps values, measures, and
# reports what it measured as JSON lines. Reads one job from standard input and ends when that closes, so it cannot
# outlive the command. Started by WorkerProcess; never loaded by the command itself.

require "active_support"
require "active_support/cache"
require "active_support/core_ext/numeric/time"
require_relative "answers"
require_relative "contenders"
require_relative "errors"
require_relative "job"
require_relative "process_memory"

module Larder
  module Lab
    # Measures one contender once. A subclass implements {#measure}.
    class Worker
      include Answers

      # Distinct values that a store must return before it is measured.
      PROOFS = 200
      # Characters of a wrong value in a message.
      LONGEST_SHOWN = 80

      # Does the job.
      # @return [void]
      def self.main
        Job.begin(self)
      end

      # @return [void]
      def run
        answering do
          open_contender
          prove
          emit("ready", versions: versions, options: contender.recorded)
          measure
          { disk_bytes: contender.disk_bytes, memory_bytes: resident_growth }
        end
      end

      private

      attr_reader :contender

      def measure
        raise NotImplementedError, "#{self.class} does not say what it measures"
      end

      def open_contender
        before = ProcessMemory.resident("self")
        @contender = contender_at(@job["endpoint"]).open
        @opened_at = ProcessMemory.resident("self") || before
      end

      # A contender whose server is found there; not open yet.
      def contender_at(endpoint)
        Contenders.fetch(@job["contender"]).new(dir: @job["dir"], endpoint: endpoint, threads: @job["threads"],
                                                size: @job["size"] || Contender::SIZE)
      end

      # Different values under different keys come back, and a deleted one does not. Warms the code up as well.
      def prove
        store = contender.store
        contender.clear
        PROOFS.times { |i| prove_key(store, ["proof", i], "value #{i} é") }
        contender.clear
      end

      def prove_key(store, key, value)
        first = store.fetch(key, expires_in: 5.minutes) { value }
        return demand(value, first, "fetch") unless contender.class.keeps_values?

        demand(value, first, "fetch with a block")
        demand(value, store.fetch(key) { "the block ran again" }, "fetch of a stored value")
        demand(value, store.read(key), "read")
        store.write(key, "other #{value}")
        demand("other #{value}", store.read(key), "read after write")
        store.delete(key)
        demand(nil, store.read(key), "read after delete")
      end

      def demand(expected, actual, call)
        return if expected == actual

        raise Invalid, "a wrong value: #{call} answered #{actual.inspect} instead of #{expected.inspect}"
      end

      # Values may be as long as a megabyte.
      def shown(value)
        text = value.inspect
        text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
      end

      def versions
        names = ["activesupport", *contender.class.gems.keys]
        found = names.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s || loaded_version(name)] }
        found["sqlite"] = SQLite3::SQLITE_VERSION if defined?(SQLite3::SQLITE_VERSION)
        found["larder"] = ::Larder::VERSION if defined?(::Larder::VERSION)
        found.compact
      end

      # Of a gem that was loaded from a path without being activated.
      def loaded_version(name)
        name == "activesupport" ? ActiveSupport::VERSION::STRING : nil
      end

      # What the process has grown by since the store was opened; nil where the system does not say.
      def resident_growth
        now = ProcessMemory.resident("self")
        now && [now - @opened_at, 0].max
      end
    end
  end
end
