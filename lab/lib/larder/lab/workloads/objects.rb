# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Values that need a serializer: a Hash, a record of ActiveRecord, and a list of records with an association.
      class Objects < Workload
        # Records of a list, and how many calls of `fetch` reading them is as much work as.
        LIST = 25
        CALLS_A_LIST = 100
        KINDS = { "hash" => "a Hash of nine", "record" => "a record",
                  "records" => "#{LIST} records, one association" }.freeze
        WRITES, READS = ["write", "read"].map do |kind|
          KINDS.to_h do |key, title|
            pass = Pass.new(key: "#{kind}-#{key}", title: "#{kind} of #{title}", reading: kind == "read", clears: false,
                            fills: (:block if kind == "read"))
            [pass.freeze, key]
          end.freeze
        end

        named "objects", "Hashes and records, one thread",
              "Rails.cache.write and .read of a Hash of nine, of a record of ActiveRecord that was just loaded, and " \
              "of #{LIST} with an association that is loaded. Of the stores whose gems allow ActiveRecord."
        only_on_request

        # @return [Array<Pass>]
        def self.passes
          [*WRITES.keys, *READS.keys]
        end

        # What was read last is looked at outside the timing.
        # @return [Block]
        def run(pass, laps)
          super.tap { |block| block.wrong ||= wrong(READS.fetch(pass)) if pass.reading }
        end

        private

        def slices(count, _threads)
          gem "activerecord"
          gem "sqlite3"
          require_relative "shop/records"
          @count = count
          [0...count]
        rescue Gem::LoadError => error
          raise Unavailable, "its Gemfile has no #{error.name}"
        end

        def fill
          KINDS.each_key { |kind| contender.store.write(kind, Shop::Records.value(kind)) }
        end

        def calls(kind)
          kind == "records" ? (@count / CALLS_A_LIST).clamp(1, 100) : (@count / 10).clamp(1, 1000)
        end

        # What is written is loaded before, outside the timing: once written, a record has its attributes converted.
        def lap(pass, block)
          kind = WRITES[pass] || READS.fetch(pass)
          @slices = [0...calls(kind)]
          untimed(block, :clearing) { @values = @slices.first.map { Shop::Records.value(kind) } } unless pass.reading
          super
        end

        def visit(store, calls, pass)
          if pass.reading
            kind = READS.fetch(pass)
            calls.each { @found = store.read(kind) }
          else
            calls.each { |i| store.write("written", @values[i]) }
          end
          [0, nil]
        end

        def visit_nothing(_pass)
          OWN_CALLS.times { |i| @found = i }
        end

        def wrong(kind)
          right = Shop::Records.value(kind)
          [kind, @found, right] unless keeps? ? Shop::Records.same?(@found, right) : @found.nil?
        end

        # The objects, made by hand.
        def floor(calls, pass)
          kind = WRITES[pass] || READS.fetch(pass)
          calls.each { Shop::Records.make(kind) }
        end
      end
    end
  end
end
