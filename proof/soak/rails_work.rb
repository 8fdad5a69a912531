# frozen_string_literal: true

# What a worker does with ActiveSupport::Cache::LarderStore, as an application would. Values are Strings, which the fast
# path stores as they are, or Strings inside something, which go through Rails' coder.

module Soak
  # Methods of Worker.
  module RailsWork
    COMMON = 200

    private

    # @param row [Integer] among all rows
    def rails_key(slot, row)
      "r/#{slot}/#{row}"
    end

    def rails_value(row, stamp, expires_in)
      bytes = Value.make(Watch.number(@slot, row), stamp, Value.length(@random),
                         expires_in ? unix_ms + (expires_in * 1000).ceil : 0)
      case @random.rand(8)
      when 0 then { "value" => bytes, list: [stamp, nil, 1.5] }
      when 1 then [bytes, row]
      else bytes
      end
    end

    # @return [Object] the String inside, where it is inside of something
    def unwrapped(value)
      case value
      when Hash then value["value"]
      when Array then value.first
      else value
      end
    end

    def rails_row
      Book::RAILS + @random.rand(Book::RAILS_KEYS)
    end

    def some_life
      @random.rand(3).zero? ? 0.1 + (@random.rand * 4) : nil
    end

    # Options as they are given in applications.
    def options(expires_in)
      options = {}
      options[:expires_in] = expires_in if expires_in
      options[:compress] = true if @random.rand(16).zero?
      options
    end

    def write
      row = rails_row
      base = @book.row(@slot, row)
      life = some_life
      stamp = begin_row(base)
      if @store.write(rails_key(@slot, row), rails_value(row, stamp, life), **options(life))
        acknowledge(base, stamp, life.nil?)
      else
        refuse(base)
      end
    end

    def write_many
      life = some_life
      stamps = Array.new(2 + @random.rand(6)) { rails_row }.uniq.to_h { |row| [row, begin_row(@book.row(@slot, row))] }
      values = stamps.to_h { |row, stamp| [rails_key(@slot, row), rails_value(row, stamp, life)] }
      @store.write_multi(values, **options(life))
      # It does not tell which were refused: none of the values before may be seen again in any case.
      stamps.each { |row, stamp| acknowledge(@book.row(@slot, row), stamp, false) }
    end

    def fetch
      row = rails_row
      life = some_life
      fetch_own(row) { |name, block| @store.fetch(name, **options(life)) { block.call(life) } }
    end

    # Who finds an expired value renews it, and others get the old one for that long.
    def fetch_with_race
      row = rails_row
      life = 0.2 + @random.rand
      fetch_own(row) do |name, block|
        @store.fetch(name, expires_in: life, race_condition_ttl: 0.5) do
          sleep(0.002) if @random.rand(4).zero?
          block.call(nil)
        end
      end
    end

    def fetch_own(row)
      base = @book.row(@slot, row)
      watch = Watch.new(@book, @slot, row)
      stamp = nil
      value = yield rails_key(@slot, row), lambda { |life|
        tally(2)
        stamp = begin_row(base)
        rails_value(row, stamp, life)
      }
      if stamp # stored, or refused: in no case does an old value stay
        acknowledge(base, stamp, false)
      else
        tally(1)
      end
      watch.judge(rails_key(@slot, row), unwrapped(value))
    end

    def fetch_many
      rows = Array.new(2 + @random.rand(6)) { rails_row }.uniq
      watches = rows.to_h { |row| [rails_key(@slot, row), [Watch.new(@book, @slot, row), row]] }
      stamps = {}
      values = @store.fetch_multi(*watches.keys) do |name|
        row = watches.fetch(name).last
        rails_value(row, stamps[row] = begin_row(@book.row(@slot, row)), nil)
      end
      stamps.each { |row, stamp| acknowledge(@book.row(@slot, row), stamp, false) }
      watches.each do |name, (watch, row)|
        tally(stamps[row] ? 2 : 1)
        watch.judge(name, unwrapped(values[name]))
      end
    end

    def delete
      row = rails_row
      delete_rows([row]) { @store.delete(rails_key(@slot, row)) }
    end

    def delete_many
      rows = Array.new(2 + @random.rand(6)) { rails_row }.uniq
      delete_rows(rows) { @store.delete_multi(rows.map { |row| rails_key(@slot, row) }) }
    end

    def delete_matched
      rows = (Book::RAILS...Book::RAILS + Book::RAILS_KEYS).to_a
      delete_rows(rows) { @store.delete_matched("r/#{@slot}/*") }
    end

    # The store answers false also where the cache could not serve; its error handler then tells.
    def delete_rows(rows)
      stamps = rows.to_h { |row| [@book.row(@slot, row), begin_row(@book.row(@slot, row))] }
      failed = @setting.failures
      yield
      return unless @setting.failures == failed

      stamps.each { |base, stamp| acknowledge(base, stamp, false) }
    end

    def read
      look_up_rails(any_slot, rails_row)
    end

    # @return [Integer, nil] the stamp that was found
    def look_up_rails(slot, row)
      name = rails_key(slot, row)
      watch = Watch.new(@book, slot, row)
      value = found(@store.read(name))
      value && watch.judge(name, unwrapped(value))
    end

    def read_own
      row = rails_row
      base = @book.row(@slot, row)
      return unless @book[base + 3] == 1 && @book[base] == @book[base + 1] && look_up_rails(@slot, row).nil?

      @book[base + 3] = 0
      tally(4)
    end

    def read_many
      slot = any_slot
      watches = Array.new(2 + @random.rand(12)) { rails_row }.uniq
                     .to_h { |row| [rails_key(slot, row), Watch.new(@book, slot, row)] }
      values = @store.read_multi(*watches.keys)
      watches.each { |name, watch| watch.judge(name, unwrapped(values[name])) if found(values[name]) }
    end

    # One that is gone begins at 0 again, as Rails wants it. Those that were begun since the last acknowledged one may
    # have been counted or not.
    def count
      counter = @random.rand(Book::COUNTERS)
      base = @book.row(@slot, Book::RAILS_COUNTERS + counter)
      acked = @book[base + 1]
      most = [@book[base], acked].max + 1
      started = Book.now
      @book[base] = most
      number = @store.increment("n/#{@slot}/#{counter}") || return
      unless (1..most - acked).cover?(number) || (acked + 1..most).cover?(number) || @book.hostile_since?(started)
        @book.wrong("n/#{@slot}/#{counter}: #{number} after #{acked}")
      end
      @book[base] = @book[base + 1] = number
    end

    # Keys of everyone: who misses writes, whoever it is.
    def fetch_common
      which = @random.rand(COMMON)
      written = false
      value = @store.fetch("common/#{which}", expires_in: 0.5 + @random.rand, race_condition_ttl: 0.2) do
        written = true
        Value.make(which, Book.now, Value.length(@random))
      end
      tally(written ? 2 : 1)
      said = Value.read(value)
      @book.wrong("common/#{which}: #{Watch.portrait(value)} is no value of this key") unless said&.number == which
    end

    def cleanup
      @store.cleanup
    end
  end
end
