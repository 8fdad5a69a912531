# frozen_string_literal: true

# Says in words how a machine is.

require_relative "../inspection/brief"
require_relative "../inspection/words"

module Larder
  class Dashboard
    # The state of one machine, as {Store::MachineStatus} has it.
    # @api private
    class MachineWords
      Words = Inspection::Words
      # Seconds after which a status is old: three that it did not publish.
      OLD = 180
      # `text`; `good`: is all well?
      Line = Struct.new(:text, :good)
      private_constant :Line

      # @param remote [Hash{Symbol=>Object}] as `:remote` of LarderStore#stats; without `:trusted` there are no copies
      # @param since [Time, nil] when changes began to wait
      # @return [Array<Line>]
      def self.of_store(remote, since: nil)
        lines = [(trust(remote[:trusted]) if remote.key?(:trusted)), waiting(remote, since)].compact
        lines.empty? ? [Line.new("No change waits for it.", true)] : lines
      end

      def self.trust(trusted)
        return Line.new("Its file cannot be opened, so it has no copies.", false) if trusted.nil?
        return Line.new("Copies are trusted.", true) if trusted

        Line.new("Copies are not trusted: each read asks the store.", false)
      end

      def self.waiting(remote, since)
        return unless remote[:waiting]

        text = if remote[:listed].nil? then "Its journal cannot be opened, so reads without a copy are misses."
               elsif remote[:overflown]
                 "More changes wait for the store than the journal can list: it will be cleared."
               else
                 waits = remote[:listed] == 1 ? "change waits" : "changes wait"
                 "#{Words.count(remote[:listed])} #{waits} for the store#{" since #{time(since)}" if since}."
               end
        Line.new(text, false)
      end

      def self.time(since)
        since.strftime(Time.now - since < 86_400 ? "%H:%M" : "%-d %b %H:%M")
      end
      private_class_method :trust, :waiting, :time

      # @param status [Store::MachineStatus]
      def initialize(status)
        @status = status
      end

      # @return [Boolean] has it not published for some time?
      def old?
        !@status.here && @status.age > OLD
      end

      # @return [String] when that was
      def seen
        return "now" if @status.here || @status.age < 1

        "#{Inspection::Brief.span(@status.age)} ago"
      end

      # @return [Array<Line>]
      def lines
        since = Time.at(@status.waiting_since) if @status.waiting_since
        lines = self.class.of_store(@status.to_h.slice(:trusted, :waiting, :listed, :overflown), since: since)
        lines << Line.new("No process listens to the backplane.", false) if deaf?
        lines << Line.new("The other machines do not know of its last changes yet.", false) if @status.unsent
        lines << Line.new("The store is not called for a moment, as it did not answer.", false) if @status.paused
        lines
      end

      private

      def deaf?
        @status.backplane && @status.trusted == false && @status.listener == false
      end
    end
  end
end
