# frozen_string_literal: true

module Larder
  module Lab
    # The format of traces, for recorder and reader. A trace is a sequence of gzip members, which processes append.
    # Each has lines of fields that tabs separate; times are microseconds since the start of the recording:
    #
    #   larder-trace  1  recording  process  dropped     first in each member; dropped: calls that were not recorded
    #   s  keyspace  name                                the name of a keyspace, if it may be written
    #   r  time  duration  thread  key  keyspace  hit    a call: its letter is in OPERATIONS; hit is 1, 0 or empty
    #   w  time  duration  thread  key  keyspace  hit  ttl          ttl in milliseconds, empty: none
    #   +  key  keyspace  hit                            a further key of the call before
    #   z  key  bytes                                    the size of a value
    #   q  time  duration  thread                        a request or job that has ended
    module Record
      MAGIC = "larder-trace"
      VERSION = 1

      # Letters by the events of Rails and of Larder. A generate is the computation of a value.
      OPERATIONS = {
        "read" => "r", "read_multi" => "r", "write" => "w", "write_multi" => "w", "delete" => "d",
        "delete_multi" => "d", "exist?" => "e", "increment" => "i", "decrement" => "i", "generate" => "g",
        "delete_matched" => "m", "delete_tagged" => "m", "expire" => "d", "cas" => "w", "cas_multi" => "w"
      }.transform_keys { |name| "cache_#{name}.active_support" }.freeze

      # Events around requests and jobs. The outermost one counts; those without a call are left out.
      REQUESTS = %w[request.action_dispatch process_action.action_controller perform.active_job].freeze

      # Makes lines of calls. Keys are hashed by String#hash: SipHash with a random key, which Ruby draws when a process
      # starts, which its forks inherit, and which ends with them. Keyspaces are hashed, too. Names of templates, which
      # begin the keys of fragments, are written; the first part of any other key is only if `keyspaces` says so, since
      # it may be a person's name. Used by one thread.
      # @api private
      class Lines
        # Bits of the hashes of a key and of a keyspace.
        KEY_BITS = 48
        SPACE_BITS = 32
        # Different keys, threads and keyspaces that are remembered; more keyspaces are 0.
        MOST_KEYS = 10_000
        MOST_THREADS = 10_000
        MOST_SPACES = 500
        # Part of the time that looking up sizes may take, and seconds that it may take at once.
        LOOKING = 0.005
        AT_ONCE = 0.05
        TEMPLATE = %r{\Aviews/([\w/.-]+):\h{32}(?![^/])}
        FIRST_PART = %r{\A[/:]*([A-Za-z_][A-Za-z_.-]{0,39})(?=[/:\d])}
        # Milliseconds that an entry lives, at least and at most: it may have expired before its line is made.
        LIVES = 1.0..1e14
        HITS = { true => "\t1", false => "\t0", nil => "\t" }.freeze

        # `text`: hash and keyspace as they are written; `sized`: whether the size is known or about to be.
        Known = Struct.new(:text, :sized)

        def initialize(store, keyspaces:)
          @store = store
          @keyspaces = keyspaces
          @began = now
          namespace = store && store.options[:namespace]
          @prefix = "#{namespace}:" if namespace && !namespace.respond_to?(:call)
          begin_process
        end

        # Forgets what the process before a fork has written.
        def begin_process
          @text = +""
          @known = {}
          @spaces = {}
          @threads = {}
          @latest = {}
          @numbered = 0
          @unsized = []
          @looked = 0.0
          @from = now
        end

        def bytesize = @text.bytesize

        # The lines so far, which are then forgotten.
        def take = @text.tap { @text = +"" }

        # Adds a call. `letter` is one of {OPERATIONS}, or "q"; `start` and `finish` are of the monotonic clock; `keys`
        # is nil, one or several; `hits` is nil, a boolean, or the keys that were hits; `ttl` is nil, seconds or a Time.
        def add(letter, start, finish, thread, keys, hits, ttl)
          number = @threads[thread] || number(thread)
          return if letter == "q" && (@latest[number] || 0) < start # no call in it

          call = "#{letter}\t#{((start - @began) * 1e6).to_i}\t#{((finish - start) * 1e6).to_i}\t#{number}"
          @latest[number] = start unless letter == "q"
          return @text << call << "\n" if keys.nil?

          found = hits.is_a?(Array) ? set(hits, keys) : hits
          Array(keys).each do |key|
            known = @known[key] || learn(key)
            hit = found.is_a?(Hash) ? found.key?(key) : found
            @text << (call || "+") << "\t" << known.text << HITS.fetch(hit)
            @text << (ttl && call ? "\t#{milliseconds(ttl)}\n" : "\n")
            call = nil
            enqueue(key, known) if (hit || letter == "w") && !known.sized
          end
        end

        # Looks up sizes, while that takes little of the time.
        def look_up
          while !@unsized.empty? && @looked <= ((now - @from) * LOOKING) + AT_ONCE
            started = now
            key = @unsized.shift
            bytes = bytes_of(key)
            known = @known[key]
            @text << "z\t" << known.text[/\A\w+/] << "\t#{bytes}\n" if known && bytes
            known.sized = false if known && !bytes
            @looked += now - started
          end
        end

        private

        def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

        def set(hits, keys) = hits.size == keys.size || hits.to_h { |key| [key, true] }

        def milliseconds(ttl) = ((ttl.is_a?(Time) ? ttl - Time.now : ttl.to_f) * 1000).clamp(LIVES).to_i

        def number(thread)
          [@threads, @latest].each(&:clear) if @threads.size >= MOST_THREADS
          @threads[thread] = (@numbered += 1)
        end

        def learn(key)
          @known.clear if @known.size >= MOST_KEYS
          name = own_name(key)
          @known[key] = Known.new("#{hashed(name, KEY_BITS)}\t#{space(name)}", false)
        end

        # The key as the application names it: events of single keys have the one of the store, from Rails 7.2 on.
        def own_name(key)
          key = @store.send(:file_path_key, key) if key.start_with?("/") && @store.respond_to?(:file_path_key, true) &&
                                                    key.start_with?(@store.cache_path.to_s)
          @prefix ? key.delete_prefix(@prefix) : key
        end

        def space(name)
          text = name[TEMPLATE, 1]&.prepend("views/") || name[FIRST_PART, 1] or return 0
          return @spaces[text] || 0 if @spaces.key?(text) || @spaces.size >= MOST_SPACES

          hash = @spaces[text] = hashed(text, SPACE_BITS)
          @text.prepend("s\t#{hash}\t#{text}\n") if @keyspaces || text.start_with?("views/")
          hash
        end

        def hashed(text, bits) = (text.b.hash & ((1 << bits) - 1)).to_s(36)

        def enqueue(key, known)
          return if @store.nil? || @unsized.size >= MOST_KEYS

          known.sized = true
          @unsized << key
        end

        # Bytes of a String, or of Marshal's form of another value. Nil if it is not there, or cannot be loaded.
        def bytes_of(key)
          entry = @store.send(:read_entry, @store.send(:normalize_key, own_name(key), @store.options)) or return
          value = entry.value
          (value.is_a?(String) ? value : Marshal.dump(value)).bytesize
        rescue StandardError
          nil
        end
      end
    end
  end
end
