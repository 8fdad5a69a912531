# frozen_string_literal: true

# Does random work in one slot of the ledger: notes before and after each call what concerns its keys, and pauses when
# all pause. The calls of Larder::Cache are in byte_work.rb, those of the Rails store in rails_work.rb.

require_relative "watch"
require_relative "byte_work"
require_relative "rails_work"
require_relative "fault_injection"

module Soak
  # One owner of keys, in one thread.
  class Worker
    include ByteWork
    include RailsWork

    BATCH = 16
    REST_SECONDS = 0.1

    # Method => how often it is drawn.
    WORK = {
      store_bytes: 12, delete_bytes: 4, swap_bytes: 3, touch_bytes: 1, count_bytes: 4, look_at_counter: 3,
      look_at_bytes: 16, look_at_many_bytes: 2, store_many_bytes: 1, ask_for_bytes: 1, look_at_own_bytes: 2,
      write: 8, fetch: 6, fetch_with_race: 2, delete: 3, read: 14, read_many: 3, write_many: 1, fetch_many: 1,
      delete_many: 1, count: 3, fetch_common: 8, read_own: 2, fill: 6
    }.freeze
    # For readers, who store nothing.
    READING = %i[look_at_counter look_at_bytes look_at_many_bytes ask_for_bytes read read_many].freeze
    # One in this number of batches.
    SELDOM = { walk_keys: 1500, delete_matched: 2000, cleanup: 1000, stats: 300, collect: 2000 }.freeze

    DRAWN = WORK.flat_map { |name, weight| [name] * weight }.freeze
    private_constant :DRAWN

    # @return [Integer]
    attr_reader :slot

    # @param setting [Setting]
    # @param random [Random]
    # @param cache [Larder::Cache]
    # @param store [ActiveSupport::Cache::LarderStore]
    def initialize(setting, random, cache, store)
      @setting = setting
      @book = setting.book
      @random = random
      @cache = cache
      @store = store
      @drawn = setting.reading ? READING : DRAWN
      @counts = [0, 0, 0, 0, 0]
      @fault = FaultInjection.of(self)
    end

    attr_reader :book, :cache, :store, :random

    # The caches to work with from now on.
    def use(cache, store)
      @cache = cache
      @store = store
    end

    # @return [Boolean] false: all slots are taken
    def claim
      @slot = @book.claim(@random)
      @base = @book.slot(@slot) if @slot
      !@slot.nil?
    end

    # What a predecessor that was killed came to is what is found now.
    def inherit
      Book::BYTE_KEYS.times { |row| inherit_row(row) { look_up_bytes(@slot, row) } }
      Book::RAILS_KEYS.times { |key| inherit_row(Book::RAILS + key) { look_up_rails(@slot, Book::RAILS + key) } }
    end

    # Works until told to end or for so long.
    #
    # @param seconds [Numeric, nil] nil: until told
    # @yieldreturn [Boolean] asked after each batch: end now?
    def work(seconds = nil)
      ends = seconds && (now + seconds)
      until over? || (ends && now > ends) || (block_given? && yield)
        batch
        rest
        sleep(0.001) if @random.rand(8).zero? # leave some of the machine to others
      end
    end

    # Some calls.
    def batch
      BATCH.times { act(@drawn[@random.rand(@drawn.size)]) }
      SELDOM.each { |name, times| act(name) if @random.rand(times).zero? } unless @setting.reading
      @fault&.act
      note
    end

    # Gives the slot back.
    def leave
      note
      @book.release(@slot)
    end

    # Rests as long as all do. What can be collected is, so that what is left is what is used.
    def rest
      return unless @book.resting?

      @setting.collect
      while @book.resting? && !over?
        @book[@base + Book::RESTS] = 1
        @book[@base + Book::BEAT] = Book.now
        sleep(REST_SECONDS)
      end
      @book[@base + Book::RESTS] = 0
    end

    # @return [Boolean]
    def over?
      @setting.over? || @book.ending?
    end

    private

    # What a call that raises was to do stays begun and not acknowledged: either may be seen.
    def act(name)
      send(name)
    rescue Larder::Error => e
      raise unless @setting.may_be_locked_out?(e)

      @book.add(Book::LOCKED_OUT)
    end

    def inherit_row(row)
      base = @book.row(@slot, row)
      acked = @book[base + 1]
      return if @book[base] == acked

      stamp = yield
      acknowledge(base, stamp, false) if stamp && stamp > acked
    end

    # The stamp of an operation that begins now.
    def begin_row(base)
      stamp = Book.now
      @book[base] = stamp
      stamp
    end

    def acknowledge(base, stamp, present)
      @book[base + 3] = present ? 1 : 0
      @book[base + 2] = Book.now
      @book[base + 1] = stamp
    end

    # Refused: neither this value nor the one before may be seen again.
    def refuse(base)
      later = Book.now
      @book[base] = later
      acknowledge(base, later, false)
      tally(3)
    end

    def found(value)
      tally(value.nil? ? 2 : 1)
      value
    end

    def tally(which)
      @counts[which] += 1
    end

    # What the cache may answer beside a result while somebody is stopped.
    def refusals
      yield
    rescue Larder::BusyError, Larder::FullError
      tally(3)
      nil
    rescue Larder::Error => e
      raise unless @setting.may_be_locked_out?(e)

      @book.add(Book::LOCKED_OUT)
      nil
    end

    def own_row(count)
      @random.rand(count)
    end

    def any_slot
      @random.rand(Book::SLOTS)
    end

    def unix_ms
      Watch.unix_ms
    end

    def collect
      @random.rand(4).zero? && GC.respond_to?(:compact) ? GC.compact : GC.start
    end

    def note
      @counts[0] += BATCH
      @counts.each_with_index { |count, index| @book.add(@base + Book::CALLS + index, count) if count.positive? }
      @counts.fill(0)
      @book[@base + Book::BEAT] = Book.now
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
