# frozen_string_literal: true

# What a worker does with Larder::Cache: keys and values are bytes.

module Soak
  # Methods of Worker.
  module ByteWork
    FILLERS = 40_000

    private

    def byte_key(slot, row)
      "b/#{slot}/#{row}"
    end

    def counter_key(slot, counter)
      "c/#{slot}/#{counter}"
    end

    # @return [Array(String, Float, nil)] a value and its life in seconds
    def byte_value(row, stamp)
      ttl_ms = @random.rand(4).zero? ? 50 + @random.rand(4000) : nil
      value = Value.make(Watch.number(@slot, row), stamp, Value.length(@random), ttl_ms ? unix_ms + ttl_ms : 0)
      [value, ttl_ms && (ttl_ms / 1000.0)]
    end

    def store_bytes
      row = own_row(Book::BYTE_KEYS)
      base = @book.row(@slot, row)
      stamp = begin_row(base)
      value, ttl = byte_value(row, stamp)
      if refusals { @cache.set(byte_key(@slot, row), value, ttl: ttl) }
        acknowledge(base, stamp, ttl.nil?)
      else
        refuse(base)
      end
    end

    def store_many_bytes
      rows = Array.new(2 + @random.rand(8)) { own_row(Book::BYTE_KEYS) }.uniq
      stamps = rows.to_h { |row| [row, begin_row(@book.row(@slot, row))] }
      pairs = stamps.to_h do |row, stamp|
        [byte_key(@slot, row), Value.make(Watch.number(@slot, row), stamp, Value::HEADER + @random.rand(500))]
      end
      kept_out = refusals { @cache.set_multi(pairs) } || pairs.keys
      stamps.each do |row, stamp|
        base = @book.row(@slot, row)
        kept_out.include?(byte_key(@slot, row)) ? refuse(base) : acknowledge(base, stamp, true)
      end
    end

    def delete_bytes
      row = own_row(Book::BYTE_KEYS)
      base = @book.row(@slot, row)
      stamp = begin_row(base)
      @cache.delete(byte_key(@slot, row))
      acknowledge(base, stamp, false)
    end

    # Needs to know what is there: what it stored for ever and was told of.
    def swap_bytes
      row = own_row(Book::BYTE_KEYS)
      base = @book.row(@slot, row)
      return unless @book[base + 3] == 1 && @book[base] == @book[base + 1]

      expected = @cache.get(byte_key(@slot, row)) || return
      stamp = begin_row(base)
      value = Value.make(Watch.number(@slot, row), stamp, Value.length(@random))
      if refusals { @cache.cas(byte_key(@slot, row), expected, value) }
        acknowledge(base, stamp, true)
      else # nothing was changed, but by others: evicted, or cleared
        @book[base + 3] = 0
        @book[base] = @book[base + 1]
        tally(3)
      end
    end

    # Only what says that it never expires.
    def touch_bytes
      row = own_row(Book::BYTE_KEYS)
      return unless @book[@book.row(@slot, row) + 3] == 1

      refusals { @cache.touch(byte_key(@slot, row), ttl: 3600) }
    end

    # A counter that is gone begins again where its owner knows it to be.
    def count_bytes
      counter = own_row(Book::COUNTERS)
      base = @book.row(@slot, Book::BYTE_COUNTERS + counter)
      acked = @book[base + 1]
      most = [@book[base], acked].max + 1
      started = Book.now
      @book[base] = most
      number = refusals { @cache.increment(counter_key(@slot, counter), initial: acked) } || return
      unless (acked + 1..most).cover?(number) || @book.hostile_since?(started)
        @book.wrong("#{counter_key(@slot, counter)}: #{number} after #{acked}")
      end
      @book[base + 1] = number if number > acked
    end

    def look_at_counter
      slot = any_slot
      counter = @random.rand(Book::COUNTERS)
      base = @book.row(slot, Book::BYTE_COUNTERS + counter)
      acked = @book[base + 1]
      started = Book.now
      text = @cache.get(counter_key(slot, counter)) || return
      begun = @book[base]
      return if (acked..begun).cover?(Integer(text, exception: false) || -1) || @book.hostile_since?(started)

      @book.wrong("#{counter_key(slot, counter)}: #{text.inspect}, between #{acked} and #{begun}")
    end

    def look_at_bytes
      look_up_bytes(any_slot, @random.rand(Book::BYTE_KEYS))
    end

    # @return [Integer, nil] the stamp that was found
    def look_up_bytes(slot, row)
      name = byte_key(slot, row)
      watch = Watch.new(@book, slot, row)
      value = found(@cache.get(name))
      value && watch.judge(name, value)
    end

    # What its owner was told is stored should be there; it may be forgotten, and that is counted.
    def look_at_own_bytes
      row = own_row(Book::BYTE_KEYS)
      base = @book.row(@slot, row)
      return unless @book[base + 3] == 1 && @book[base] == @book[base + 1] && look_up_bytes(@slot, row).nil?

      @book[base + 3] = 0
      tally(4)
    end

    def look_at_many_bytes
      slot = any_slot
      rows = Array.new(2 + @random.rand(12)) { @random.rand(Book::BYTE_KEYS) }.uniq
      watches = rows.to_h { |row| [byte_key(slot, row), Watch.new(@book, slot, row)] }
      values = @cache.get_multi(watches.keys)
      watches.each { |name, watch| watch.judge(name, values[name]) if found(values[name]) }
    end

    def ask_for_bytes
      name = byte_key(any_slot, @random.rand(Book::BYTE_KEYS))
      left = @cache.exist?(name) && @cache.ttl(name)
      @book.wrong("#{name}: lives for #{left} s") if left && left != Float::INFINITY && !(0..3601).cover?(left)
    end

    # Values nobody looks after. They make the cache full and its index move.
    def fill
      which = @random.rand(FILLERS)
      value = Value.make(which, 1, Value::HEADER + @random.rand(2500))
      refusals { @cache.set("f/#{which}/0", value) }
    end

    def walk_keys
      count = 0
      @cache.each_key(prefix: "b/#{any_slot}/") do |key|
        @book.wrong("each_key yields #{key.inspect}") unless key.match?(%r{\Ab/\d+/\d+\z})
        break if (count += 1) > 1000
      end
    end

    def stats
      stats = @cache.stats
      @book.wrong("stats: #{stats}") unless stats[:size_bytes] == @cache.size
    end
  end
end
