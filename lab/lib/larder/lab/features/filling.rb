# frozen_string_literal: true

# Writes more than a store has room for, and counts what is left and what has grown.

require_relative "../errors"
require_relative "../footprint"

module Larder
  module Lab
    module Features
      # One filling of one store. The answers are those of {Probe} blocks.
      class Filling
        # How much is written, and how much may be taken: times the limit.
        TIMES = 2
        TOLERANCE = 1.25
        # Values written and read by one call.
        BATCH = 50
        # Keys whose presence is looked at, of the first and of the last.
        SAMPLE = 200
        # Seconds that eviction in the background has.
        SETTLING = 0.5

        # @return [Hash{Symbol=>Object}] counts, for the record
        attr_reader :found

        # Fills it.
        # @param store [ActiveSupport::Cache::Store]
        # @param job [Hash{String=>Object}]
        # @raise [Invalid] if a value is wrong
        def initialize(store, job)
          @store = store
          @job = job
          @count = job["size"] * TIMES / job["small"]
          @noise = Random.new(2).bytes(job["small"] + 4096)
          @refused = 0
          fill
          there = look
          @found = { written: @count, kept: there.size, early: there.count { |i| i < SAMPLE },
                     late: there.count { |i| i >= @count - SAMPLE }, failed_writes: @refused, growth: @growth.to_h }
        end

        # @return [Array(Object, String)]
        def evicts
          return [false, "nothing that is written can be read"] if kept.zero?

          [kept < @count && found[:late] > SAMPLE / 2,
           "#{kept} of #{@count} are left: #{found[:early]} of the first #{SAMPLE}, #{found[:late]} of the last" \
           "#{", and #{@refused} writes were refused" if @refused.positive?}"]
        end

        # @return [Array(Object, String)]
        def limited_by
          return [false, "nothing grows"] if kept.zero?

          place, = places.find { |_, bytes| bytes > kept * @job["small"] / 2 }
          [place, places.map { |name, bytes| "#{name} #{megabytes(bytes)}" }.join(", ")]
        end

        # @return [Array(Object, String)]
        def within_limit
          return ["nothing kept", "nothing that is written can be read"] if kept.zero?

          taken = [@growth.disk + @growth.tmpfs, @growth.server, (@growth.own unless @job["endpoint"]).to_i].max
          [taken <= @job["size"] * TOLERANCE, "#{megabytes(taken)} of #{megabytes(@job["size"])}"]
        end

        private

        attr_reader :store

        def kept
          found[:kept]
        end

        def places
          { "disk" => @growth.disk, "memory (tmpfs)" => @growth.tmpfs, "memory (server)" => @growth.server,
            "memory (own)" => @growth.own }
        end

        # The files of the store's own directory count in full: some take all their room before the first value.
        def fill
          store.write("first of all", "v")
          before = footprint(@job["server_dir"])
          (0...@count).each_slice(BATCH) { |numbers| write(numbers) }
          sleep SETTLING
          @growth = footprint(*@job["directories"], @job["server_dir"]) - before
        end

        # One by one where the store cannot take many at once: Litecache cannot when it is full.
        def write(numbers)
          store.write_multi(numbers.to_h { |number| ["filling-#{number}", value(number)] }, compress: false)
        rescue StandardError
          numbers.each { |i| @refused += 1 unless store.write("filling-#{i}", value(i), compress: false) }
        end

        def value(number)
          head = "#{number}:"
          head + @noise.byteslice(number % 4096, @job["small"] - head.bytesize)
        end

        # In reverse, so that reading does not rescue the old ones before they are counted.
        def look
          (0...@count).to_a.reverse.each_slice(BATCH).flat_map do |numbers|
            values = store.read_multi(*numbers.map { |number| "filling-#{number}" })
            numbers.select { |number| values["filling-#{number}"] }.each do |number|
              raise Invalid, "a wrong value for filling-#{number}" unless values["filling-#{number}"] == value(number)
            end
          end
        end

        def footprint(*dirs)
          Footprint.take(pid: @job.dig("endpoint", "pid"), dirs: dirs.compact)
        end

        def megabytes(bytes)
          format("%.1f MB", bytes / 1e6)
        end
      end
    end
  end
end
