# frozen_string_literal: true

# The figures of sessions in a file.

require_relative "../bytes/absence"

module Larder
  class Metrics
    # @api private
    module SessionFigures
      FIGURES = { "sessions.signed_in" => :signed_in, "sessions.anonymous" => :anonymous,
                  "sessions.pinned" => :pinned_bytes, "sessions.pinned_room" => :pinned_room_bytes,
                  "sessions.evictions" => :evictions }.freeze
      ACTIVE = { "1m" => :active_1m, "5m" => :active_5m, "1h" => :active_1h, "1d" => :active_1d }.freeze
      private_constant :FIGURES, :ACTIVE

      module_function

      # @return [Hash{Symbol=>Numeric}, nil] of Sessions.stats; nil: the process has no sessions in a file of Larder's,
      #   or none has begun yet
      # @raise [Error] the file cannot be used, or cannot be made
      def stats
        statistics = Sessions.current if defined?(Sessions.current)
        file = statistics&.file or return
        return statistics.stats if File.exist?(file)

        error = Absence.of(file)
        raise error unless error.is_a?(Absence::NotUsed)
      end

      # @return [Hash{String=>Hash}] samples by id; empty as of {.stats}
      def read
        found = stats or return {}

        FIGURES.transform_values { |name| { {} => found.fetch(name) } }
               .merge("sessions.up" => { {} => 1 },
                      "sessions.active" => ACTIVE.to_h { |window, name| [{ "window" => window }, found.fetch(name)] })
      rescue Error
        { "sessions.up" => { {} => 0 } }
      end
    end
  end
end
