# frozen_string_literal: true

require "stringio"
require "zlib"
require_relative "../errors"
require_relative "lines"

module Larder
  module Lab
    module Record
      # Reads a trace. Parts that were cut off are left out; anything else that is wrong is an error. If a file has
      # several recordings, the one with most calls is taken.
      # @api private
      class Reader
        # Calls that are read, unless the caller says otherwise.
        MOST_CALLS = 1_000_000
        GZIP = "\x1f\x8b\b".b
        LETTERS = OPERATIONS.values.uniq.freeze
        # Fields with a number.
        NUMBER = /\A\d{1,15}\z/
        KEY = /\A[0-9a-z]{1,10}\z/
        HITS = { "1" => true, "0" => false, "" => nil, nil => nil }.freeze

        # True if the file begins as a trace does.
        def self.trace?(path)
          File.open(path, "rb") { |file| Zlib::GzipReader.new(file).readpartial(MAGIC.size) == MAGIC }
        rescue SystemCallError, Zlib::Error, EOFError
          false
        end

        # The {Recording}, with `calls` at most. Raises UsageError naming the file and what is wrong with it.
        def self.read(path, calls: MOST_CALLS) = new(path, calls).read

        def initialize(path, most)
          @path = path
          @most = most
          @recordings = Hash.new { |all, id| all[id] = Recording.new(File.basename(path)) }
          @damaged = 0
        end

        def read
          data = File.binread(@path)
          at = 0
          at = read_member(data, at) while at < data.bytesize
          found = @recordings.values.max_by { |recording| recording.calls.size }
          wrong("it has no call") if found.nil? || found.calls.empty?
          found.complete(damaged: @damaged, others: @recordings.size - 1)
        rescue SystemCallError => error
          raise UsageError, "#{@path}: #{Lab.reason(error)}"
        end

        private

        # All of it is read before a line is taken, because its checksum is at its end. Answers where the next one
        # begins: after one that is damaged, where gzip's first bytes are.
        def read_member(data, at)
          file = StringIO.new(data)
          file.pos = at
          member = Zlib::GzipReader.new(file)
          text = member.read.force_encoding(Encoding::UTF_8)
          following = file.pos - member.unused.to_s.bytesize
          member.finish
          @number = 0
          text.scrub.each_line(chomp: true) { |line| read_line(line.split("\t", -1)) }
          following
        rescue Zlib::Error
          @damaged += 1
          data.index(GZIP, at + 1) || data.bytesize
        end

        def read_line(fields)
          @number += 1
          return begin_member(fields) if @number == 1

          case fields.first
          when "+" then add_key(fields.drop(1)) if @call
          when "s" then @recording.spaces[fields[1]] = fields[2].to_s
          when "z" then @recording.item(key(fields[1])).size = number(fields[2])
          when "q" then span(fields).then { |start, finish, thread| @recording.around[thread] << [start, finish] }
          when *LETTERS then call(fields)
          else wrong("line #{@number} of a part begins with #{fields.first.to_s[0, 20].inspect}")
          end
        end

        def begin_member(fields)
          magic, version, recording, process, dropped = fields
          wrong("it does not begin with #{MAGIC}") unless magic == MAGIC
          wrong("format #{version.to_s[0, 10]}; this larder-lab reads #{VERSION}") unless version == VERSION.to_s
          @recording = @recordings[recording]
          @process = number(process)
          @recording.dropped[@process] = number(dropped)
          @call = nil
        end

        def call(fields)
          return @call = nil if @recording.calls.size >= @most

          @call = Recording::Call.new(fields.first, *span(fields), fields[7] && number(fields[7]), [], [])
          @recording.calls << @call
          add_key(fields.drop(4)) if fields[4]
        end

        # Start, end and thread.
        def span(fields)
          start, duration, thread = fields.values_at(1, 2, 3).map { |text| number(text) }
          [start, start + duration, [@process, thread]]
        end

        # Key, keyspace and hit of the last call.
        def add_key((hash, space, hit))
          @call.items << @recording.item(key(hash), space)
          @call.hits << HITS[hit]
        end

        def key(text)
          KEY.match?(text.to_s) ? text : wrong("#{text.to_s[0, 20].inspect} in line #{@number} is not a key")
        end

        def number(text)
          NUMBER.match?(text.to_s) ? text.to_i : wrong("#{text.to_s[0, 20].inspect} in line #{@number} is not a number")
        end

        def wrong(reason)
          raise UsageError, "#{@path} is not a trace of Larder::Lab.record, or is damaged: #{reason}"
        end
      end

      # A trace that was read: requests with their calls, and what is known of the values. A write that follows a miss
      # of its key in the same request belongs to that miss; the time from one to the other is that of the computation,
      # unless an event says it.
      # @api private
      class Recording
        # A call as it was recorded: microseconds, items, and for each whether it was a hit. `ttl` in milliseconds.
        Call = Struct.new(:letter, :start, :finish, :thread, :ttl, :items, :hits)
        # `size` in bytes, `compute` in seconds, `ttl` in seconds or nil; `stored`: whether the application stores it;
        # `counter`: whether it is incremented; `warm`: whether it was there when recording began. `space` is a name.
        # {Replay.fill} makes `name` and `value`.
        Item = Struct.new(:key, :space, :size, :compute, :ttl, :stored, :counter, :warm, :name, :value) do
          def stored_value? = stored && !counter
        end
        # `start` (seconds after that of the first one) and `seconds` of the recorded request; `steps`: its calls, each
        # an operation (:get, :set, :delete, :exist, :increment), items and hits.
        Request = Struct.new(:start, :seconds, :steps)

        # `spaces`: names by their hashes; `dropped`: calls that were not recorded, by process; `around`: start and end
        # of requests, by thread; `requests`: in the order in which they began, also calls outside of requests;
        # `warnings`: reasons to doubt it.
        attr_reader :name, :calls, :spaces, :dropped, :around, :items, :requests, :warnings

        def initialize(name)
          @name = name
          @calls = []
          @spaces = {}
          @dropped = {}
          @around = Hash.new { |all, thread| all[thread] = [] }
          @by_key = {}
          @computed = Hash.new { |all, item| all[item] = [] }.compare_by_identity
        end

        # The {Item} of a key; {#spaces} has its name by `space`.
        def item(key, space = nil) = (@by_key[key] ||= Item.new(key)).tap { |item| item.space ||= space }

        # Links all that was read. The file has `damaged` parts and `others`, further recordings.
        def complete(damaged:, others:)
          @warnings = doubts(damaged, others)
          @requests = @calls.group_by(&:thread).flat_map { |thread, own| requests_of(thread, own.sort_by(&:start)) }
                            .sort_by!(&:start)
          began = @requests.first&.start
          @requests.each { |request| request.start -= began }
          find_warm
          names = { "0" => "other", **@spaces }
          @items.each { |item| item.space = names.fetch(item.space) { |hash| "keyspace #{hash}" } }
          estimate
          self
        end

        # All reads in their order: the {Item} of each, and whether it was a hit.
        def reads
          @reads ||= @requests.flat_map do |request|
            request.steps.flat_map { |operation, items, hits| operation == :get ? items.zip(hits) : [] }
          end
        end

        # Seconds from the first call to the end of the last request.
        def seconds
          [@requests.last.start + @requests.last.seconds, 1e-6].max
        end

        private

        def doubts(damaged, others)
          lost = @dropped.values.sum
          [("#{damaged} damaged parts of the file were left out." if damaged.positive?),
           ("The file has #{others + 1} recordings; this is the one with most calls." if others.positive?),
           ("#{lost} calls were not recorded, because too many waited." if lost.positive?)].compact
        end

        # An inner request is part of the outer one. A call outside of requests is a request of its own.
        def requests_of(thread, calls)
          around = @around[thread].sort.each_with_object([]) do |span, outer|
            outer << span if outer.empty? || span.first > outer.last.last
          end
          outside = {}.compare_by_identity
          calls.group_by { |call| around_of(call, around) || call }.filter_map do |span, own|
            alone = span.is_a?(Call)
            start, finish = alone ? [span.start, span.finish] : span
            missed = alone ? outside : {}.compare_by_identity
            steps = own.filter_map { |call| step(call, missed) }
            Request.new(start / 1e6, (finish - start) / 1e6, steps) if steps.any?
          end
        end

        def around_of(call, around)
          index = around.bsearch_index { |start, _| start > call.start } || around.size
          around[index - 1] if index.positive? && call.start <= around[index - 1].last
        end

        # @param missed [Hash{Item=>Integer, nil}] when each was missed; nil if the time of its computation is known
        def step(call, missed)
          case call.letter
          when "r" then get(call, missed)
          when "w" then set(call, missed)
          when "g"
            call.items.each { |item| computed(item, call.finish - call.start, missed) }
            nil
          when "i" then [:increment, call.items.each { |item| item.counter = true }]
          when "d" then [:delete, call.items]
          when "e" then [:exist, call.items]
          end
        end

        def get(call, missed)
          call.items.zip(call.hits) { |item, hit| hit ? item.stored = true : missed[item] = call.finish }
          [:get, call.items, call.hits]
        end

        def computed(item, micros, missed)
          @computed[item] << ([micros, 0].max / 1e6)
          missed[item] = nil if missed.key?(item) # its write tells no other time
        end

        def set(call, missed)
          fills, others = call.items.partition { |item| missed.key?(item) }
          call.items.each do |item|
            item.stored = true
            item.ttl = call.ttl && (call.ttl / 1e3)
          end
          fills.each do |item|
            at = missed.delete(item)
            computed(item, (call.start - at) / fills.size, missed) if at
          end
          [:set, others] if others.any?
        end

        # Items that no call names are those of calls that were not read.
        def find_warm
          @requests.each do |request|
            request.steps.each do |_, items, hits|
              items.each_with_index { |item, at| item.warm = (hits && hits[at]) == true if item.warm.nil? }
            end
          end
          @items = @by_key.values.reject { |item| item.warm.nil? }
        end

        # Where nothing is known of a value, the median of its keyspace, or of all.
        def estimate
          @computed.each { |item, all| item.compute = all.sum / all.size }
          { size: 0, compute: 0.0 }.each do |field, least|
            known = @items.select(&field)
            medians = known.group_by(&:space).transform_values { |some| median(some.map(&field)) }
            whole = known.any? ? median(known.map(&field)) : least
            @items.each { |item| item[field] ||= medians[item.space] || whole }
          end
        end

        def median(values) = values.sort[values.size / 2]
      end
    end
  end
end
