# frozen_string_literal: true

# Finds the reason to doubt a run that all comparisons share: a busy machine.

module Larder
  module Lab
    # Sentences; nil where there is no warning.
    module Warnings
      # Load for each core from which on other work is suspected.
      BUSY = 0.7

      module_function

      # @param environment [Hash{Symbol=>Object}] see {Environment}
      # @return [String, nil]
      def busy(environment)
        average, cores = environment.values_at(:load_average, :cores)
        return unless average && average > BUSY * cores

        "Other work was running when the run began: load #{average} on #{cores} cores."
      end
    end
  end
end
