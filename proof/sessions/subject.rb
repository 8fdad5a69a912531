# frozen_string_literal: true

# Opens, asks and changes the sessions of Larder. The rest of the proof knows sessions only by numbers.

require "digest"
require "larder/sessions"
require "larder/sessions/backends/file"
require_relative "questions"

module SessionProof
  # The sessions of one file as one process sees them, under the clock of the proof.
  class Subject
    include Questions

    # Seconds of the proof's clock.
    IDLE = 120
    ANONYMOUS = 40
    MAX_LIFETIME = 600
    # An idle session may live by so much longer, for a use is not written down each time.
    TOLERANCE = 0.25
    PER_USER = 5
    # After this many seconds a sign-out by a former id no longer holds.
    FORMER_HOLDS = 50
    SIZE_BYTES = 2 << 20
    # A writer waits for another that is alive and not scheduled.
    LOCK_TIMEOUT = 20

    # A backend that tells of each of its calls before it makes it.
    class Backend < Larder::Sessions::Backends::File
      # @return [#call, nil]
      attr_accessor :before_call

      %i[read add swap delete].each do |name|
        define_method(name) do |*arguments, **options|
          @before_call&.call
          super(*arguments, **options)
        end
      end
    end

    # @return [Integer] Unix seconds
    attr_accessor :now
    # @return [Array<String>] what was reported and is no refusal
    attr_reader :reported
    # @return [Larder::Cache]
    attr_reader :cache

    # @param path [String]
    def initialize(path)
      @cache = Larder::Cache.open(path, size: SIZE_BYTES, lock_timeout: LOCK_TIMEOUT)
      @backend = Backend.new(@cache)
      @now = 0
      @reported = []
      @repository = Larder::Sessions::Repository.new(
        backend: @backend, format: Larder::Sessions::Format.fetch(:json), per_user: PER_USER,
        lifetimes: Larder::Sessions::Lifetimes.new(idle: IDLE, anonymous: ANONYMOUS, max: MAX_LIFETIME),
        report: method(:report), clock: -> { @now }
      )
      @statistics = Larder::Sessions::Statistics.new(@repository)
    end

    # @yield before each call of the backend
    # @return [void]
    def before_call(&block)
      @backend.before_call = block
    end

    # @param id [String]
    # @return [Object, nil] for {#commit} and {#renew}; answers `values`
    def find(id)
      @repository.find(key(id))
    end

    # @return [Boolean, Symbol] true, false, or :full if the file had no room
    def begin(id, values)
      answer { @repository.begin(key(id), values) }
    end

    # @return [Boolean, Symbol] as {#begin}
    def commit(found, values)
      answer { @repository.commit(found, values) }
    end

    # @return [Boolean, Symbol] as {#begin}
    def renew(found, id, values)
      answer { @repository.renew(found, key(id), values) }
    end

    # @return [Boolean]
    def end(id)
      @repository.end(key(id))
    end

    # @return [Boolean]
    def revoke(handle)
      @statistics.revoke(handle)
    end

    # @return [Array(Integer, Integer)] sessions that are counted: signed in, and not
    def counts
      [true, false].map { |signed_in| @statistics.active(last: 2 * 3600, signed_in: signed_in) }
    end

    # Has the counts made anew, also by who noticed that processes have died.
    # @return [void]
    def recount
      counts
      (Thread.list - [Thread.current]).each(&:join)
      @statistics.recount
    end

    # @return [Integer] sessions that are in the file and alive
    def size
      @repository.sessions.count
    end

    # @return [Float] the part of the room for those who are signed in that is taken
    def fullness
      stats = @cache.stats
      stats[:pinned_bytes].fdiv(stats[:pinned_room_bytes])
    end

    private

    def key(id)
      Digest::SHA256.digest(id)
    end

    # Requests that overlap are fibers, and each has variables of its own.
    def answer
      Thread.current[:session_proof_full] = false
      return true if yield

      Thread.current[:session_proof_full] ? :full : false
    rescue Larder::Sessions::NoRoomError
      :full
    end

    def report(error)
      case error
      when Larder::Sessions::NoRoomSoonError then nil
      when Larder::Sessions::NoRoomError, Larder::FullError then Thread.current[:session_proof_full] = true
      else @reported << "#{error.class}: #{error.message}"
      end
    end
  end
end
