# frozen_string_literal: true

# Tells a failure of the work itself from an exception that was raised into it from outside. Outside knows those of
# other threads and fibers. A signal's trap raises in the thread itself, so in all other cases the work is done a second
# time: its own failure comes again, that of a trap does not. Work that does not fail costs nothing more.

require "larder/bytes/outside"

module Larder
  # For the rescue clauses of work that calls other people's methods, such as decoding, and that may be done twice.
  # @api private
  module OwnFailure
    # What a class raises for wrong parts, or a library for wrong bytes.
    KINDS = [StandardError, ScriptError, SystemStackError, NoMemoryError].freeze
    # These are never raised from outside, and doing the work again would be expensive.
    CERTAIN = [SystemStackError, NoMemoryError].freeze
    # Deferred while the work is done again, and raised after it. All others end it at once.
    KEPT_BACK = [StandardError, ScriptError].to_h { |kind| [kind, :never] }.freeze
    # The time limit of the second attempt, and the same again for each MiB that it reads: the work may have been
    # interrupted because it hangs.
    SECONDS = 1.0
    ADDRESS = /0x\h+/
    private_constant :CERTAIN, :KEPT_BACK, :SECONDS, :ADDRESS

    # @private
    class Unfinished < Exception; end # rubocop:disable Lint/InheritException -- no rescue clause of the work's takes it
    private_constant :Unfinished

    module_function

    # @param error [Exception] that the work ended with
    # @param size_bytes [Integer] that it reads
    # @yield the same work
    # @return [Boolean] is it the work's own failure? If not, the caller raises it again
    # @example
    #   rescue *OwnFailure::KINDS => e
    #     raise unless OwnFailure.again?(e) { made(parts) }
    def again?(error, size_bytes = 0, &work)
      return true if CERTAIN.include?(error.class)
      return false if Outside.raised?(error, since: error.cause)

      second = failure_of(SECONDS * (1 + (size_bytes >> 20)), &work)
      !second.nil? && same?(error, second)
    end

    # @return [Exception, nil] nil: it did not fail, or took too long
    def failure_of(seconds)
      Thread.handle_interrupt(KEPT_BACK) do
        Timeout.timeout(seconds, Unfinished) { yield }
        nil
      rescue Unfinished
        nil
      rescue *KINDS => e
        e
      end
    end

    # The same class and message, raised at the same place.
    def same?(first, second)
      return false unless first.instance_of?(second.class)

      frames = second.backtrace.take_while { |frame| !frame.start_with?(__FILE__) }
      above(first.backtrace.first(frames.size)) == above(frames) &&
        text(first) == text(second)
    end

    def text(error)
      error.message.to_s.b.gsub(ADDRESS, "")
    end

    # The frames above the last, which is where the work was called from: native methods say that they were there.
    def above(frames)
      place = frames.last[/\A.*?:\d+:/].to_s
      frames[0...-1].map { |frame| frame.delete_prefix(place) }
    end
    private_class_method :failure_of, :same?, :text, :above
  end
end
