# frozen_string_literal: true

# Decides whether a ratio shows a difference. The only place that does: each word, mark and color comes from here.

require_relative "stats"

module Larder
  module Lab
    module Bench
      # Reads an {Stats::Estimate}.
      module Verdict
        # Fewer sessions show nothing.
        LEAST_SESSIONS = 5
        # If only a greater difference than this could be seen, the machine was too busy to tell.
        COARSEST = 1.5
        # Ratios that are nearer to 1 do not matter to an application, even if they are shown.
        MATTERS = 1.1

        module_function

        # @param estimate [Stats::Estimate, nil] of seconds: above 1 is slower
        # @return [Symbol] :slower, :faster, :alike (none was shown, and a difference of `detectable` would have been),
        #   or :unknown
        def of(estimate)
          return :unknown if estimate.nil? || estimate.sessions < LEAST_SESSIONS
          return :slower if estimate.low > 1.0
          return :faster if estimate.high < 1.0

          estimate.detectable > COARSEST ? :unknown : :alike
        end

        # @param estimate [Stats::Estimate, nil]
        # @return [Boolean] whether a difference is shown that matters to an application
        def matters?(estimate)
          case of(estimate)
          when :slower then estimate.low > MATTERS
          when :faster then estimate.high < 1 / MATTERS
          else false
          end
        end
      end
    end
  end
end
