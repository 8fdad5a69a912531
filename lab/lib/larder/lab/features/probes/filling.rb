# frozen_string_literal: true

require_relative "../probe"
require_relative "../../footprint"

module Larder
  module Lab
    module Features
      # What happens when more is written than there is room for.
      class Filling < Probe
        # See {Probe}.
        QUESTIONS = %w[evicts limited_by within_limit].freeze
        # Seconds: databases write slowly.
        PATIENCE = 150
        # How much is written: times the limit.
        TIMES = 2
        # The limit counts as kept if no more than so much of it is taken.
        TOLERANCE = 1.25
        # Values written and read by one call.
        BATCH = 50
        # Keys whose presence is looked at, of the first and of the last.
        SAMPLE = 200
        # Seconds that eviction in the background has.
        SETTLING = 0.5

        # Does it make room for new values by giving up old ones?
        def evicts
          fill
          return [false, "nothing that is written can be read"] if @kept.zero?

          evicting = @kept < @count && @late > SAMPLE / 2
          [evicting, words]
        end

        # What grew by the values that are there?
        def limited_by
          fill
          return [false, "nothing grows"] if @kept.zero?

          held = @kept * job["small"]
          place = { "disk" => @growth.disk, "memory (tmpfs)" => @growth.tmpfs, "memory (server)" => @growth.server,
                    "memory (own)" => @growth.own }.find { |_, bytes| bytes > held / 2 }
          [place ? place.first : nil, place ? grown : "nothing grew by as much as it holds: #{grown}"]
        end

        # Is no more taken than it was told?
        def within_limit
          fill
          return ["nothing kept", nil] if @kept.zero?

          taken = [@growth.disk + @growth.tmpfs, @growth.server, (@growth.own if job["endpoint"].nil?).to_i].max
          [taken <= job["size"] * TOLERANCE, "#{megabytes(taken)} of #{megabytes(job["size"])}"]
        end

        # @return [Hash{Symbol=>Object}] what was found, for the record
        def evidence
          return {} unless @looked

          { written: @count, kept: @kept, early: @early, late: @late, failed_writes: @failed, growth: @growth.to_h }
        end

        private

        def fill
          return if @looked
          raise Error, "it did not come to an end" if @count

          @count = job["size"] * TIMES / job["small"]
          @noise = Random.new(2).bytes(job["small"] + 4096)
          store.write("first of all", "v")
          before = footprint(job["server_dir"])
          @failed = 0
          (0...@count).each_slice(BATCH) { |numbers| write(numbers) }
          sleep SETTLING
          @growth = footprint(*job["directories"], job["server_dir"]) - before
          look
          @looked = true
        end

        # One by one where the store cannot take many at once: Litecache cannot when it is full.
        def write(numbers)
          store.write_multi(numbers.to_h { |number| ["filling-#{number}", value(number)] }, compress: false)
        rescue StandardError
          numbers.each { |i| @failed += 1 unless store.write("filling-#{i}", value(i), compress: false) }
        end

        def value(number)
          head = "#{number}:"
          head + @noise.byteslice(number % 4096, job["small"] - head.bytesize)
        end

        # In reverse, so that reading does not rescue the old ones before they are counted.
        def look
          there = (0...@count).to_a.reverse.each_slice(BATCH).flat_map { |numbers| right(numbers) }
          @kept = there.size
          @early = there.count { |i| i < SAMPLE }
          @late = there.count { |i| i >= @count - SAMPLE }
        end

        def right(numbers)
          found = store.read_multi(*numbers.map { |number| "filling-#{number}" })
          numbers.select { |number| found["filling-#{number}"] }.each do |number|
            raise Invalid, "a wrong value for filling-#{number}" unless found["filling-#{number}"] == value(number)
          end
        end

        # The files of the store's own directory count in full: some take all their room before the first value.
        def footprint(*dirs)
          Footprint.take(pid: job.dig("endpoint", "pid"), dirs: dirs.compact)
        end

        def words
          "#{@kept} of #{@count} are left: #{@early} of the first #{SAMPLE}, #{@late} of the last" \
            "#{", and #{@failed} writes were refused" if @failed.positive?}"
        end

        def grown
          figures = { "disk" => @growth.disk, "tmpfs" => @growth.tmpfs, "server" => @growth.server,
                      "own memory" => @growth.own }
          figures.map { |name, bytes| "#{name} #{megabytes(bytes)}" }.join(", ")
        end

        def megabytes(bytes)
          format("%.1f MB", bytes / 1e6)
        end
      end
    end
  end
end
