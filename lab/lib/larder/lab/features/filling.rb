# frozen_string_literal: true

require_relative "../errors"
require_relative "../footprint"
require_relative "../reports/figures"

module Larder
  module Lab
    module Features
      # Writes twice what a store has room for, and counts what is left and what has grown.
      class Filling
        # Bytes of a value, and how much of the limit may be taken.
        SMALL = 4000
        TOLERANCE = 1.25
        # Values written and read by one call.
        BATCH = 50
        # Keys whose presence is looked at, of the first and of the last.
        SAMPLE = 200
        # Seconds that eviction in the background has.
        SETTLING = 0.5

        # @param store [ActiveSupport::Cache::Store]
        # @param job [Hash{String=>Object}] of {Worker}
        # @raise [Invalid] if a value is wrong
        def initialize(store, job)
          @store = store
          @job = job
          @count = job["size"] * 2 / SMALL
          @noise = Random.new(job["seed"]).bytes(SMALL + 4096)
          @refused = 0
          fill
          @there = look
        end

        # @return [Array(Boolean, String)]
        def evicts
          early, late = [@there.count { |i| i < SAMPLE }, @there.count { |i| i >= @count - SAMPLE }]
          [!@there.empty? && @there.size < @count && late > SAMPLE / 2,
           "#{@there.size} of #{@count} left: #{early} of the first #{SAMPLE}, #{late} of the last" \
           "#{", #{@refused} refused" if @refused.positive?}"]
        end

        # @return [Array(Object, String)]
        def limited_by
          place, = @there.any? && @grown.find { |_, bytes| bytes > @there.size * SMALL / 2 }
          [place || false, @grown.filter_map { |name, all| "#{name} #{bytes(all)}" if all > 50_000 }.join(", ")]
        end

        # @return [Array(Object, String)]
        def within_limit
          disk, tmpfs, server, own = @grown.values
          taken = [disk + tmpfs, server, @job["endpoint"] ? 0 : own].max
          [@there.empty? ? "nothing kept" : taken <= @job["size"] * TOLERANCE,
           "#{bytes(taken)} of #{bytes(@job["size"])}"]
        end

        private

        # The files of the store's own directory count in full: some take all their room before the first value.
        def fill
          @store.write("first of all", "v")
          before = footprint(@job["server_dir"])
          (0...@count).each_slice(BATCH) { |numbers| write(numbers) }
          sleep SETTLING
          growth = footprint(*@job["directories"], @job["server_dir"]) - before
          @grown = { "disk" => growth.disk, "memory (tmpfs)" => growth.tmpfs, "memory (server)" => growth.server,
                     "memory (own)" => growth.own }
        end

        # One by one where the store cannot take many at once: Litecache cannot when it is full.
        def write(numbers)
          @store.write_multi(numbers.to_h { |number| ["filling-#{number}", value(number)] }, compress: false)
        rescue StandardError
          numbers.each { |i| @refused += 1 unless @store.write("filling-#{i}", value(i), compress: false) }
        end

        def value(number)
          head = "#{number}:"
          head + @noise.byteslice(number % 4096, SMALL - head.bytesize)
        end

        # In reverse, so that reading does not rescue the old ones before they are counted.
        def look
          (0...@count).to_a.reverse.each_slice(BATCH).flat_map do |numbers|
            values = @store.read_multi(*numbers.map { |number| "filling-#{number}" })
            numbers.select { |number| values["filling-#{number}"] }.each do |number|
              raise Invalid, "a wrong value for filling-#{number}" unless values["filling-#{number}"] == value(number)
            end
          end
        end

        def footprint(*dirs) = Footprint.take(pid: @job.dig("endpoint", "pid"), dirs: dirs.compact)

        def bytes(number) = Reports::Figures.bytes(number)
      end
    end
  end
end
