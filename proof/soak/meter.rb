# frozen_string_literal: true

# Measures the aged file beside two fresh ones of its size that are filled alike, block by block in turn, in one
# process. The second fresh one says how much two equal files differ: what the machine does to such figures.

require "fileutils"
require "json"
require_relative "member"
require_relative "statistics"

module Soak
  # A process that does what it is told through a pipe, a line of JSON each, and answers with one.
  class Meter < Member
    CALLS = 1000 # of a block
    ROUNDS = 10 # of a group, which gives a p99.9
    OPERATIONS = %i[set get fetch_missed fetch_found].freeze
    # Mean of what #filling makes, with its key and what the engine adds.
    MEAN_BYTES = 1340
    FILLS = 3 # of what fits
    # How long after its set an item is read, as parts of what fits. A read counts only if the item is at least a
    # quarter as old as the small queue is long, which is 5 to 50 % of what fits. So one of these reads counts.
    READ_AFTER = [0.02, 0.15, 0.3].freeze

    # What the parent asks.
    class Remote
      # @return [Integer]
      attr_reader :pid

      # @param setting [Setting]
      # @param directory [String] for the fresh files
      def initialize(setting, directory)
        requests, @requests = IO.pipe
        @answers, answers = IO.pipe
        @pid = Member.fork_from(setting) do
          [@requests, @answers].each(&:close)
          Meter.new(setting, directory, requests, answers).play
        end
        [requests, answers].each(&:close)
      end

      # @param command [Symbol] a public method of Meter
      # @param limit [Numeric] seconds
      # @return [Object] as JSON has it
      def ask(command, *arguments, limit: 600)
        @requests.puts(JSON.generate([command, *arguments]))
        raise "the meter did not answer #{command} within #{limit} s" unless @answers.wait_readable(limit)

        line = @answers.gets || raise("the meter ended")
        JSON.parse(line, symbolize_names: true)
      end

      # Lets it end.
      def close
        [@requests, @answers].each { |pipe| pipe.close unless pipe.closed? }
      end
    end

    # @param setting [Setting]
    # @param directory [String]
    # @param requests [IO]
    # @param answers [IO]
    def initialize(setting, directory, requests, answers)
      super(setting, 1)
      @directory = directory
      @requests = requests
      @answers = answers
      @written = 0
    end

    # Answers until the pipe ends.
    def play
      @files = %w[aged fresh fresh_again].to_h { |name| [name, opened(name)] }
      while (line = @requests.gets)
        command, *arguments = JSON.parse(line)
        @answers.puts(JSON.generate(public_send(command, *arguments)))
      end
      @files.each_value { |cache, store| [cache, store.cache].each(&:close) }
      FileUtils.rm_rf(@directory)
    end

    # Stores several times what fits, the same everywhere. All of it is read, so that the main queue takes it and keeps
    # nothing else.
    #
    # @return [Hash{Symbol => Integer}] bytes of keys and values that each file then holds, and how many stores were
    #   refused, though nobody works
    def fill
      count = FILLS * @setting.size / MEAN_BYTES
      before = READ_AFTER.map { |part| (part * @setting.size / MEAN_BYTES).to_i }
      refused = 0
      count.times do |index|
        key, value = filling(@written + index)
        older = before.map { |distance| filling(@written + index - distance).first }
        @files.each_value do |cache, _|
          refused += 1 unless cache.set(key, value)
          older.each { |one| cache.get(one) }
        end
      end
      @written += count
      @files.transform_values { |cache, _| held(cache) }.merge(refused: refused)
    end

    # Empties all files and fills them: what is lost for good shows.
    #
    # @return [Hash{Symbol => Integer}] as {#fill}
    def fill_empty
      @files.each_value { |cache, _| cache.clear }
      fill
    end

    # @param seconds [Numeric] at least
    # @return [Array<Hash>] for each operation and figure the groups' values in each file
    def measure(seconds)
      ends = now + seconds
      measure_group(new_groups) # warms up
      groups = new_groups
      loop do
        measure_group(groups)
        break if now > ends
      end
      groups.flat_map do |operation, files|
        [:calls_per_second, :p999_us].each_with_index.map do |figure, index|
          { operation: operation, figure: figure, **files.to_h { |name, lists| [name.to_sym, lists[index]] } }
        end
      end
    end

    # @return [Hash] of the aged file
    def stats
      @files["aged"].first.stats
    end

    # @return [Hash]
    def verify
      @files["aged"].first.verify
    end

    # Collects what can be collected, so that what is left is what is used.
    #
    # @return [true]
    def collect
      @setting.collect
      true
    end

    private

    def new_groups
      OPERATIONS.to_h { |operation| [operation, Hash.new { |hash, name| hash[name] = [[], []] }] }
    end

    def opened(name)
      return @setting.open if name == "aged"

      path = File.join(@directory, "#{name}.larder")
      [Larder::Cache.open(path, size: @setting.size),
       ActiveSupport::Cache::LarderStore.new(path, size: @setting.size, raise_errors: true)]
    end

    # The same sizes from the same index on.
    def filling(index)
      bytes = Value::HEADER + (((index * 2_654_435_761) & 0xffffffff) % 2500)
      ["m/#{index}/0", "\x55".b * bytes]
    end

    def held(cache)
      sum = 0
      cache.each_key { |key| sum += key.bytesize + (cache.get(key)&.bytesize || 0) }
      sum
    end

    # Blocks in turn: a, b, c, then c, b, a.
    def measure_group(groups)
      times = Hash.new { |hash, key| hash[key] = [] }
      walls = Hash.new { |hash, key| hash[key] = [] }
      ROUNDS.times do |round|
        work = round_of_work
        names = round.even? ? @files.keys : @files.keys.reverse
        OPERATIONS.each do |operation|
          names.each do |name|
            walls[[operation, name]] << in_block(operation, work, *@files[name], times[[operation, name]])
          end
        end
      end
      times.each { |(operation, name), list| note(groups[operation][name], list, walls[[operation, name]]) }
    end

    # Of the blocks the median counts: what else the machine does now and then is not the cache's.
    def note(lists, times, walls_ns)
      lists[0] << (CALLS * 1e9 / Estimate.median(walls_ns.sort))
      lists[1] << (times.sort[(times.size * 0.999).ceil - 1] / 1000.0)
    end

    # Keys and values of a round, made beforehand.
    def round_of_work
      pairs = Array.new(CALLS) { |index| filling(@written + index) }
      @written += CALLS
      [pairs, pairs.map(&:first).shuffle(random: @random), pairs.map { |key, value| ["#{key}/r", value] }]
    end

    def in_block(operation, work, cache, store, times)
      GC.start(full_mark: false, immediate_sweep: true)
      GC.disable
      started = clock
      send("time_#{operation}", work, cache, store, times)
      clock - started
    ensure
      GC.enable
    end

    def time_set(work, cache, _store, times)
      last = clock
      work[0].each do |key, value|
        cache.set(key, value)
        times << (-last + (last = clock))
      end
    end

    def time_get(work, cache, _store, times)
      last = clock
      work[1].each do |key|
        cache.get(key)
        times << (-last + (last = clock))
      end
    end

    def time_fetch_missed(work, _cache, store, times)
      last = clock
      work[2].each do |key, value|
        store.fetch(key, expires_in: 3600) { value }
        times << (-last + (last = clock))
      end
    end
    alias time_fetch_found time_fetch_missed

    def clock
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    end
  end
end
