# frozen_string_literal: true

# A computation of one value that is going on.

require "larder/bytes/monotonic_clock"

module Larder
  module Store
    # It has everything that the write of the value needs: the lease, the stamp that tells which deletions of tags came
    # later, and the time that the block took.
    # @api private
    class Flight
      include MonotonicClock

      # The stamp of a value that began to be computed without a file: it is not stored, as it is unknown what was
      # deleted.
      NEVER = (("\0" * 8) + ("\xFF".b * 8)).freeze

      # @return [Records] of the file
      attr_reader :records
      # @return [String, nil] in the file; nil: of several values
      attr_reader :key
      # @return [Fiber] that computes
      attr_reader :fiber
      # @return [Float] seconds of the monotonic clock
      attr_reader :since
      # @return [Symbol, nil] the option of the `read` that announced the write; nil: a call with a block computes
      attr_reader :option
      # @return [String, nil] as Larder::Cache#stamp answers, or NEVER; nil: the value has no tags
      attr_accessor :stamp
      # @return [TwoLevels::RemoteLease::Scripts, TwoLevels::RemoteLease::Steps, nil] the lease in the remote store
      attr_accessor :remote
      # @return [Integer, nil] milliseconds that the block took
      attr_accessor :compute_ms
      # @return [Boolean] true if it has left its thread's list: its value is not stored any more
      attr_accessor :ended

      # @param token [String, nil, false] as Records#lease answers; nil: another caller has the lease, and the value is
      #   not stored; false: values are computed by any caller
      # @param seconds [Float, nil] length of the lease that a `read` took; nil: it ends with the block
      def initialize(records, key, token: false, stamp: nil, option: nil, seconds: nil)
        @records = records
        @key = key&.dup&.freeze
        @token = token
        @leased = token != false
        @stamp = stamp
        @option = option
        @seconds = seconds
        @fiber = Fiber.current
        @process = Process.pid
        @ended = false
        @since = monotonic_now
      end

      # @return [Boolean] true if one caller computes the value for all
      attr_reader :leased
      alias leased? leased

      # @return [String, nil] nil also for the lease of the process that forked this one: what this process makes of it
      #   is not stored
      def token
        @token if @token && @process == Process.pid
      end

      # A forked child has the flights of its parent, but no right to their leases.
      # @return [Boolean]
      def own?
        @process == Process.pid
      end

      # True if its lease has certainly ended by its time. The lease in the file began before `since`.
      # @return [Boolean]
      def over?
        !@seconds.nil? && monotonic_now > @since + @seconds
      end

      # @return [Float] seconds that it has taken so far
      def age
        monotonic_now - @since
      end

      # @return [Boolean] true if it computes this key, or one of several
      def of?(records, key)
        @key == key && @records.equal?(records)
      end
    end
  end
end
