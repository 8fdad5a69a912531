# frozen_string_literal: true

require "larder/bytes/application"
require "larder/bytes/monotonic_clock"

if defined?(ActiveSupport.error_reporter) # which loads them at its first report, and that may be that no file opens
  require "active_support/isolated_execution_state"
  require "active_support/execution_context"
end

module Larder
  # Reports failures that reach no caller, to the log and to ActiveSupport.error_reporter: for each cause at most once a
  # minute in a process. A report says how many like the one before it were left out.
  # @api private
  module Reports
    # The source of the errors of a store, named as those of Rails' own stores.
    STORE = "larder_store.active_support"
    # Seconds between two reports of a cause.
    PAUSE = 60
    # Causes that are told apart. All others count as one.
    MOST = 64
    # Parts of a message that differ although the cause is the same: keys, texts, numbers.
    VARIABLE = /\A.* (?=could not be changed: )|"(?:[^"\\]|\\.)*"|(?<=[\s(#])-?\d+(?=[\s),.;:]|\z)/m
    private_constant :PAUSE, :MOST, :VARIABLE

    # When it was last reported, whether to a logger, how many were left out since, and the line.
    Cause = Struct.new(:at, :logged, :left_out, :line)
    private_constant :Cause

    @causes = {}
    @times = {}
    @lock = Mutex.new

    class << self
      include MonotonicClock

      # @param error [Exception]
      # @param source [String] the name under which the error reporter gets it
      # @param line [String] for the log
      # @param of [Object] what failed
      # @param type [Class] errors of one type, `of` one thing, for one reason have one cause
      # @param reason [String] why; its keys, texts and numbers make no difference
      # @return [void]
      def report(error, source:, line: "larder: #{error.message}", of: nil, type: error.class, reason: error.message)
        logger = self.logger
        cause = [source, of, type, reason.scrub.gsub(VARIABLE, "")]
        tracked, logged, left_out = count(cause, line, !logger.nil?)
        line = "#{line} (and #{left_out} more in the last minute)" if left_out&.positive?
        unless_broken { log(logger, line) } if logged
        unless_broken { track(error, source, left_out) } if tracked
      end

      # The stores' own logger, or that of Rails. Looked up at each report: stores are made before the logger of Rails.
      #
      # @return [Logger, nil]
      def logger
        (ActiveSupport::Cache::Store.logger if defined?(ActiveSupport::Cache::Store)) || Application.logger
      end

      # Forgets all causes, for tests.
      # @return [void]
      def reset
        @lock.synchronize { @causes.clear }
        @times.clear
      end

      private

      # A logger and the subscribers of an error reporter may raise, also where they load code. The call that reports
      # goes on.
      def unless_broken
        yield
      rescue StandardError, LoadError => e
        warn("larder: an error could not be reported: #{e.class}: #{e.message} (#{e.backtrace&.first})")
      end

      # Without a logger the first report of a cause goes to $stderr.
      def log(logger, line)
        logger ? logger.error(line) : warn(line)
      end

      def track(error, source, left_out)
        reporter = ActiveSupport.error_reporter if defined?(ActiveSupport.error_reporter)
        reporter&.report(error, handled: true, severity: :warning, source: source,
                                context: left_out.zero? ? {} : { left_out: left_out })
      end

      # @return [Array(Boolean, Boolean, Integer)] report it to the error reporter? to the log? how many were left out?
      def count(key, line, has_logger)
        @lock.synchronize { counted(key, line, has_logger) }
      rescue ThreadError # the handler of a signal can neither lock nor log
        warn(line) if due_in_handler?(key)
      end

      # Only handlers of signals change these times.
      def due_in_handler?(key)
        @times.clear if @times.size >= MOST
        last = @times[key]
        @times[key] = monotonic_now if last.nil? || monotonic_now - last >= PAUSE
        last != @times[key]
      end

      def counted(key, line, has_logger)
        forget_parents
        cause = @causes[key] || make_cause(key)
        due = cause.at.nil? || monotonic_now - cause.at >= PAUSE
        logged = has_logger ? due || !cause.logged : cause.at.nil?
        left_out = cause.left_out
        cause.line = line
        cause.left_out = due || logged ? 0 : left_out + 1
        cause.at = monotonic_now if due
        cause.logged ||= logged && has_logger
        [due, logged, due || logged ? left_out : 0]
      end

      def make_cause(key)
        now = monotonic_now
        @causes.delete_if { |_, cause| cause.left_out.zero? && now - cause.at >= PAUSE } if @causes.size >= MOST
        @causes[@causes.size < MOST ? key : :others] ||= Cause.new(nil, false, 0, nil)
      end

      # A forked child counts its own failures.
      def forget_parents
        return if @pid == Process.pid

        at_exit { report_left_out } unless @pid
        @pid = Process.pid
        @causes.clear
      end

      def report_left_out
        return unless @pid == Process.pid

        @causes.each_value.select { |cause| cause.left_out.positive? }.each do |cause|
          others = cause.left_out - 1
          log(logger, others.zero? ? cause.line : "#{cause.line} (and #{others} more since the last report)")
        end
      end
    end
  end
end
