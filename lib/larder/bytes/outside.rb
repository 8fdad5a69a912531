# frozen_string_literal: true

# Tells which exceptions were raised into a thread or fiber from outside of the code that it runs: by another thread or
# fiber, as time limits do. Ruby marks none of them, so Thread#raise and Fiber#raise note them here. An exception that
# Timeout.timeout raises is no longer noted once it has left the call that set its limit: to the code around that call
# it is an ordinary failure.

require "timeout"

module Larder
  # For the rescue clauses around code of other people that must not be run a second time (see also OwnFailure).
  # @api private
  module Outside
    # The ids of the last exceptions, each true; false: it has left the call that set the time limit. Not a WeakMap:
    # in Ruby 3.1 and 3.2 the process is aborted if memory is compacted while there is one (free(): invalid pointer).
    NOTED = {} # rubocop:disable Style/MutableConstant -- it is what Larder notes
    # Where the files are whose frames are Larder's.
    LARDER = File.dirname(__dir__)
    # Exceptions that are remembered. Each counts until its thread has handled it, which is soon.
    REMEMBERED = 1024
    # Methods of fiber schedulers that set a time limit and raise its exception with Fiber#raise.
    LIMIT = /[`'#.](?:with_timeout|timeout_after)'\z/
    private_constant :NOTED, :LARDER, :REMEMBERED, :LIMIT

    # Over Thread#raise and Fiber#raise.
    module Raising
      # As Ruby's.
      ruby2_keywords def raise(*given)
        return super if given.empty? || equal?(self.class.current)

        super(*Outside.noted(given))
      end
    end

    # Over Timeout.timeout.
    module Limiting
      # As Timeout's.
      def timeout(seconds, type = nil, *)
        super
      rescue *(type.is_a?(Module) ? type : Timeout::Error) => e
        Outside.left(type ? e : e.cause) # without a class it is made of the exception that ended the block
        raise
      end
    end

    class << self
      # @param error [Exception]
      # @param since [Exception, nil] what was being handled when the code began; it and its causes do not count
      # @return [Boolean] true: it was raised from outside, or while the code handled or left such an exception
      def raised?(error, since: nil)
        until error.nil? || error.equal?(since)
          return !limited?(error) if NOTED[error.__id__]

          error = error.cause
        end
        false
      end

      # @param given [Array] arguments of a raise
      # @return [Array] the same, with the exception in place of its class and message
      def noted(given)
        return given if given.last.is_a?(Hash) || !main_ractor? # keywords, of the exception or of the raise

        error = made(*given)
        return given unless error.is_a?(Exception)

        NOTED.shift if NOTED.size >= REMEMBERED
        NOTED[error.__id__] = true
        [error]
      end

      # @param error [Exception, nil] it leaves the call that set its time limit
      def left(error)
        NOTED[error.__id__] = false if error && main_ractor? && NOTED[error.__id__]
      end

      private

      # Other Ractors cannot use NOTED.
      def main_ractor?
        Ractor.current.equal?(Ractor.main)
      end

      # As raise makes it; nil: it would raise TypeError.
      def made(type, message = (none = true), backtrace = nil)
        return RuntimeError.new(type) if type.is_a?(String) && none
        return unless type.respond_to?(:exception)

        error = none ? type.exception : type.exception(message)
        error.set_backtrace(backtrace) if backtrace && error.is_a?(Exception)
        error
      end

      # True if the code that was interrupted had set a limit itself, with a fiber scheduler.
      def limited?(error)
        frames = error.backtrace.to_a.take_while { |frame| frame.start_with?(__FILE__) || !frame.start_with?(LARDER) }
        frames.any?(LIMIT)
      end
    end
  end
end

[Thread, Fiber].each { |type| type.prepend(Larder::Outside::Raising) }
Timeout.singleton_class.prepend(Larder::Outside::Limiting)
