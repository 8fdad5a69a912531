# frozen_string_literal: true

# `larder keys`: lists keys.

require_relative "key_command"
require_relative "inspection"

module Larder
  module CLI
    # `larder keys`: lists keys with their sizes and TTLs.
    class Keys < KeyCommand
      # The name that users type.
      NAME = "keys"
      # One line for `larder --help`.
      SUMMARY = "lists keys with their sizes and TTLs"
      Commands.register(NAME, self)

      # Keys of a sorted list.
      LIMIT = 20
      # The most keys of a sorted list, which is held in memory.
      MOST = 100_000
      BANNER = <<~TEXT
        Usage: larder keys [PATTERN] [--sort size|age|ttl|reads] [--limit N] [options]

        Lists the keys of a cache with the bytes of their values and the time until they
        expire. It takes no lock and stops no process. PATTERN is the beginning of keys,
        or a glob with * (any characters) and ? (one character): quote it.
      TEXT
      FOOTER = <<~TEXT.freeze
        Without --sort keys are in no order, and are printed as they are found. A key
        that is stored, deleted or moved during the walk may be missing or be listed
        twice.
        With --sort the list has the first keys of the whole cache by
          size   the largest values first
          ttl    those that expire first; stale ones are before them
          age    the oldest first. The file notes ages of groups of items: <= 2h is an
                 item that was stored within the last 2 hours
          reads  those that are read most, roughly: the cache counts as far as it
                 needs to. - (not read), some (about once), often (twice or more), since
                 it last looked for items to evict. Reads just after a store do not
                 count, and neighbours in the index can share a count

        stale: the time has passed, and the item is kept for a while, as for
        race_condition_ttl. -: it never expires.

        #{FILE_HELP}
        #{KEY_HELP}
        Examples:
          larder keys views/ | head
          larder keys '*/products/7*'
          larder keys --sort size --limit 5
          larder keys --json | jq -r 'select(.size > 100000).key'

        Exit codes: 0 done, 1 the file is missing or cannot be used, 2 wrong usage.
      TEXT
      # Bytes of text that are written at once.
      CHUNK = 16_384
      # A column that only some orders have.
      EXTRA = { "age" => "AGE", "reads" => "READS" }.freeze
      private_constant :LIMIT, :MOST, :BANNER, :FOOTER, :CHUNK, :EXTRA

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) do |options|
          options.on("--sort ORDER", "size, age, ttl or reads") { |name| @sort = Order.check(name) }
          options.on("--limit N", Integer, "at most N keys; #{LIMIT} with --sort") { |number| @limit = number }
          options.on("--prefix TEXT", "keys that begin with TEXT, where * and ?", "are characters as others") do |text|
            @prefix = text
          end
          options.on("--keyspace NAME", "keys of this keyspace, see larder stat") { |text| @keyspace = text }
          options.on("--names", "keys alone, for larder delete -") { @names = true }
        end
      end

      def json_help
        "a line of JSON for each key"
      end

      def operands(rest)
        raise UsageError, "unexpected argument #{rest[1]}; quote a pattern with * or ?" if rest.size > 1

        @pattern = Pattern.new(rest.first || "")
      end

      def understood
        raise UsageError, "--prefix and PATTERN: give one of them" if @prefix && !@pattern.match_all?
        raise UsageError, "--names and --json: give one of them" if @names && @json
        raise UsageError, "--limit #{@limit}: a number of keys from 1 on" if @limit && @limit < 1
        return unless @sort && @limit && @limit > MOST

        raise UsageError, "--limit #{@limit}: a sorted list has #{Words.count(MOST)} keys at most; leave out --sort"
      end

      def act
        @now_ms = (Time.now.to_f * 1000).to_i
        visit do |cache|
          @keyspace_of = Keyspaces.of(cache.path) if @keyspace
          head
          @sort ? sorted(cache) : streamed(cache)
        end
        OK
      end

      def sorted(cache)
        order = Order.new(@sort, @limit || LIMIT, @now_ms)
        matching(cache) { |item| order << item }
        write(order.first.map { |item| line(item) }.join)
      end

      def streamed(cache)
        text = +""
        left = @limit
        matching(cache) do |item|
          text << line(item)
          if text.bytesize >= CHUNK
            write(text)
            text = +""
          end
          break if left && (left -= 1).zero?
        end
        write(text)
      end

      # Another program takes the names for those of keys, so no character is replaced for the locale's sake.
      def write(text)
        @names ? @out.write(text) : @out.print(text)
      end

      def matching(cache)
        keyspace = KeyText.bytes(@keyspace) if @keyspace
        cache.each_item(prefix: @prefix ? KeyText.bytes(@prefix) : @pattern.prefix) do |item|
          next unless @pattern.match?(item.key)

          yield item if keyspace.nil? || @keyspace_of.call(item.key).b == keyspace
        end
      end

      # The names of the columns, for people.
      def head
        return if @json || @names

        @out.puts(row("SIZE", "TTL", EXTRA[@sort], "KEY"), style: :bold)
      end

      def line(item)
        key = KeyText.shown(item.key)
        return "#{key}\n" if @names
        return "#{JSON.generate(machines(item, key), ascii_only: true)}\n" if @json

        text = ItemText.new(item, @now_ms)
        "#{row(text.size, text.ttl, (text.public_send(@sort) if EXTRA.key?(@sort)), key)}\n"
      end

      def row(size, ttl, extra, key)
        "#{size.rjust(10)} #{ttl.rjust(8)} #{"#{extra.rjust(8)} " if extra} #{key}"
      end

      def machines(item, key)
        { key: key, size: item.size, ttl: item.ttl(@now_ms)&.round(3), stale: item.ttl(@now_ms)&.zero? || false,
          age_at_most: item.age(@now_ms).round(3), reads: item.reads, tags: item.tags, pinned: item.pinned }
      end
    end
  end
end
