# frozen_string_literal: true

require "active_support"
require "active_support/notifications"
require "securerandom"
require "zlib"
require_relative "lines"

module Larder
  module Lab
    module Record
      # Listens to the events of a cache and writes a trace. A call only notes what it was; a thread of each process
      # makes lines of the notes, a few at a time, compresses them and appends them to the file.
      class Recorder
        NOTE = 7 # values of a note: letter, start, finish, thread, keys, hits, ttl
        AT_ONCE = 300 # notes that the thread takes before it lets others run
        MOST_NOTES = 100_000 # that wait; calls beyond are counted, but not recorded
        PAUSE = 0.5 # seconds between two looks for notes
        CHUNK = 256 * 1024 # bytes after which lines are written
        PATIENCE = 5 # seconds after which they are
        private_constant :NOTE, :AT_ONCE, :MOST_NOTES, :PAUSE, :CHUNK, :PATIENCE

        # @see Lab.record
        def initialize(path, store, keyspaces:, max_bytes:, seconds:)
          { max_bytes: max_bytes, seconds: seconds }.each do |name, value|
            raise ArgumentError, "#{name}: must be a number above 0, not #{value.inspect}" unless
              value.is_a?(Numeric) && value.positive?
          end
          @path = File.expand_path(path)
          @file = File.open(@path, File::WRONLY | File::APPEND | File::CREAT, 0o600)
          @lines = Lines.new(store, keyspaces: keyspaces)
          @store = store&.class&.name
          @max_bytes = max_bytes
          @until = now + seconds
          @recording = SecureRandom.hex(6)
          @notes = []
          @dropped = 0
          @lock = Mutex.new
        rescue SystemCallError => error
          raise ArgumentError, "cannot record to #{path}: #{error.message.sub(/ @ .*/, "")}"
        end

        # @return [void]
        def start
          @on = true
          @subscriptions = OPERATIONS.map do |event, letter|
            many = event.match?(/_multi|tagged/)
            subscribe(event) { |start, finish, id, payload| note(letter, many, start, finish, id, payload) }
          end
          @subscriptions += REQUESTS.map do |event|
            subscribe(event) { |start, finish, id| push("q", start, finish, id, nil, nil, nil) }
          end
          run
          at_exit { stop }
        end

        # @return [String] without keys, which an error message might show
        def inspect = "#<#{self.class} #{@path}>"

        # @return [Boolean] whether this process records
        def recording? = @on

        # Ends recording in this process, and writes what is left.
        def stop
          return unless @on

          unsubscribe
          return unless @pid == Process.pid

          @thread.wakeup if @thread.alive?
          @thread.join
        rescue ThreadError
          nil # it ended in between
        end

        private

        def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

        def subscribe(event)
          ActiveSupport::Notifications.monotonic_subscribe(event) do |_, start, finish, id, payload|
            yield start, finish, id, payload
          end
        end

        def unsubscribe
          @on = false
          @subscriptions.each { |subscription| ActiveSupport::Notifications.unsubscribe(subscription) }
        end

        def note(letter, many, start, finish, id, payload)
          return if @store && payload[:store] != @store

          keys = payload[:key]
          keys = many ? texts(keys) : text(keys) unless keys.is_a?(String)
          hits = payload.fetch(:hit) { payload[:hits]&.then { |names| texts(names) } }
          push(letter, start, finish, id, letter == "m" ? nil : keys, hits,
               letter == "w" ? payload[:expires_in] || payload[:expires_at] : nil)
        end

        # One call of Array#push, so that notes of several threads do not mix.
        def push(letter, start, finish, id, keys, hits, ttl)
          run unless @thread.alive?
          return @dropped += 1 if @notes.size >= MOST_NOTES * NOTE

          @notes.push(letter, start, finish, id, keys, hits, ttl)
        end

        def texts(names)
          names = names.keys if names.is_a?(Hash)
          Array(names).map { |name| name.is_a?(String) ? name : text(name) }
        end

        # As Rails makes keys of names.
        def text(name)
          case name
          when String then name
          when Array then name.map { |part| text(part) }.join("/")
          when Hash then name.map { |key, value| "#{key}=#{value}" }.sort.join("/")
          else (name.respond_to?(:cache_key) ? name.cache_key : name.to_param).to_s
          end
        end

        # After a fork, the notes of the parent are the parent's.
        def run
          @lock.synchronize do
            next if !@on || @thread&.alive?

            if @pid && @pid != Process.pid
              @notes.clear
              @dropped = 0
              @lines.begin_process
            end
            @pid = Process.pid
            @thread = Thread.new { work }.tap { |thread| thread.name = "larder-lab record" }
          end
        end

        def work
          written = now
          while @on
            sleep(PAUSE)
            digest
            @lines.look_up
            due = @lines.bytesize >= CHUNK || now - written >= PATIENCE
            written = now.tap { append } if due
            stop_with(nil) if now >= @until
          end
          digest
          append
        rescue StandardError => error
          stop_with("#{error.class}: #{error.message.sub(/ @ .*/, "")}")
        end

        def digest
          until (notes = @notes.shift(AT_ONCE * NOTE)).empty?
            notes.each_slice(NOTE) { |note| @lines.add(*note) }
            sleep(0.001) if @on
          end
        end

        # In one call, so that members of several processes do not mix.
        def append
          return if @failed || @lines.bytesize.zero?

          head = [MAGIC, VERSION, @recording, @pid, @dropped].join("\t")
          member = Zlib.gzip("#{head}\n#{@lines.take}", level: Zlib::BEST_SPEED)
          return stop_with("it has #{@max_bytes} bytes, its limit") if @file.size + member.bytesize > @max_bytes

          @file.syswrite(member) == member.bytesize or raise Errno::ENOSPC
        end

        # Called by the thread, which cannot wait for itself. The limit of time needs no words: no reason.
        def stop_with(reason)
          unsubscribe
          return if reason.nil? || @failed

          @failed = true
          warn "larder-lab: recording to #{@path} has ended: #{reason}"
        end
      end
    end
  end
end
