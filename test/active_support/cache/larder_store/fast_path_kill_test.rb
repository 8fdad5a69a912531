# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # Processes that are killed at any instant of fetch, write, write_multi and delete on the fast path. Each keeps a
  # ledger of what it is about to store and of what it was told is stored; whatever is read afterwards lies between the
  # two, and is whole.
  class FastPathKillTest < StoreCase
    KEYS = 12
    WRITERS = 2
    SECONDS = Float(ENV.fetch("LARDER_SURVIVE_SECONDS", 3)).clamp(1, 10)
    DELETED = 1 << 62

    # Sequences a writer announced and had acknowledged, eight bytes each, in a file that outlives it.
    class Ledger
      def initialize(path)
        @file = File.open(path, File::RDWR | File::CREAT)
      end

      def intend(key, sequence) = @file.pwrite([sequence].pack("Q"), key * 16)
      def acknowledge(key, sequence) = @file.pwrite([sequence].pack("Q"), (key * 16) + 8)

      # @return [Array(Integer, Integer)] intended, acknowledged
      def [](key)
        found = File.binread(@file.path, 16, key * 16).to_s.ljust(16, "\0")
        found.unpack("QQ")
      end
    end

    # Its bytes follow from its sequence alone. Every fifth is a Hash, for the coder.
    def self.value(sequence)
      text = "#{sequence}:#{(sequence * 2_654_435_761 % 4096).to_s * (sequence % 700)}"
      (sequence % 5).zero? ? { text: text } : text
    end

    def sequence_of(value)
      sequence = (value.is_a?(Hash) ? value[:text] : value).to_i
      assert_equal self.class.value(sequence), value, "a value that nobody wrote"
      sequence
    end

    def ledger_of(writer) = Ledger.new(path_of("ledger-#{writer}"))
    def key_of(writer, key) = ["own", writer, key]

    def write_until_killed(writer, first)
      ledger = ledger_of(writer)
      random = Random.new(first)
      (first..).each do |sequence|
        key = random.rand(KEYS)
        ledger.intend(key, sequence)
        deleted = random.rand(4).zero?
        done = deleted ? delete(writer, key) : store_value(writer, key, self.class.value(sequence), random)
        ledger.acknowledge(key, deleted ? sequence | DELETED : sequence) if done
      end
    end

    def delete(writer, key)
      store.delete(key_of(writer, key))
      true
    end

    def store_value(writer, key, value, random)
      case random.rand(3)
      when 0 then store.write(key_of(writer, key), value, expires_in: 60)
      when 1 then store.write_multi({ key_of(writer, key) => value, ["beside", key] => value })
      else
        store.delete(key_of(writer, key))
        store.fetch(key_of(writer, key), expires_in: 1.minute) { value }.equal?(value)
      end
    end

    def assert_between(writer, ledger)
      KEYS.times do |key|
        intended, acknowledged = ledger[key]
        found = store.read(key_of(writer, key))
        next if found.nil? # a cache may forget

        sequence = sequence_of(found)
        assert_operator sequence, :<=, intended
        if acknowledged.anybits?(DELETED)
          assert_operator sequence, :>, acknowledged ^ DELETED, "a deleted value came back"
        else
          assert_operator sequence, :>=, acknowledged, "an overwritten value came back"
        end
      end
    end

    def read_for_a_while(seconds)
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      names = WRITERS.times.flat_map { |writer| KEYS.times.map { |key| key_of(writer, key) } }
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline
        store.read_multi(*names).each_value { |value| sequence_of(value) }
      end
    end

    test "what killed processes leave is whole, and nothing deleted or overwritten comes back" do
      assert Larder::Store::FastPath.enabled?(store.class), "this would test the ordinary path"
      ledgers = WRITERS.times.map { |writer| ledger_of(writer) }
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
      rounds = 0
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline
        first = (rounds += 1) * 1_000_000
        pids = WRITERS.times.map { |writer| fork { write_until_killed(writer, first) } }
        read_for_a_while(0.02 + (rand * 0.08))
        Process.kill(:KILL, *pids)
        pids.each { |pid| wait_for(pid) }
        ledgers.each_with_index { |ledger, writer| assert_between(writer, ledger) }
      end
      assert_equal 0, store.cache.verify[:problems]
      assert_operator rounds, :>, 3
      assert ledgers.any? { |ledger| ledger[0].max.positive? }, "no writer got to work"
    end
  end
end
