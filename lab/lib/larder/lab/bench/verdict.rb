# frozen_string_literal: true

require_relative "stats"

module Larder
  module Lab
    module Bench
      # Decides whether an {Stats::Estimate} shows a difference. The only place that does: each word, mark and color
      # comes from here.
      module Verdict
        # Fewer sessions show nothing.
        LEAST_SESSIONS = 5
        # If only a greater difference than this could be seen, the machine was too busy to tell.
        COARSEST = 1.5
        # Ratios that are nearer to 1 do not matter to an application, even if they are shown.
        MATTERS = 1.1

        # Stands behind a ratio, or in its place.
        MARKS = { alike: "≈", unknown: "too busy to tell", few: "too few sessions" }.freeze
        # The meaning of the first mark.
        EXPLAINED = "no difference is shown"
        # A clause about two rows. `times` is the ratio of the slower one, `slow`, with its interval; `detectable` the
        # smallest difference that would have been found.
        CLAUSES = {
          slower: "%<row>s takes %<times>s times as long as %<other>s",
          faster: "%<other>s takes %<times>s times as long as %<row>s",
          negligible: "no difference that matters between %<row>s and %<other>s (%<slow>s: %<times>s times as long)",
          alike: "no difference is shown between %<row>s and %<other>s; one of %<detectable>s would have been",
          unknown: "this machine was too busy to tell %<row>s from %<other>s",
          few: "too few sessions to tell %<row>s from %<other>s"
        }.freeze
        # Colors of the style sheet, for a row compared with the reader's own.
        COLORS = { slower: "own", faster: "warning", negligible: "soft", alike: "soft", unknown: "warning" }.freeze

        module_function

        # The verdict on an {Stats::Estimate} of seconds: :slower (above 1), :faster, :alike (no difference is shown;
        # one of `detectable` would have been), or :unknown.
        def of(estimate)
          return :unknown if estimate.nil? || estimate.sessions < LEAST_SESSIONS
          return :slower if estimate.low > 1.0
          return :faster if estimate.high < 1.0

          estimate.detectable > COARSEST ? :unknown : :alike
        end

        # The verdict, or :negligible where the whole interval is too near to 1 to matter to an application.
        def for_an_application(estimate)
          verdict = of(estimate)
          return verdict if verdict == :unknown || estimate.low <= 1 / MATTERS || estimate.high >= MATTERS

          :negligible
        end

        # The words of the verdict in {MARKS} or {CLAUSES}. Too few sessions are not a busy machine.
        def words(estimate, words)
          few = estimate.nil? || estimate.sessions < LEAST_SESSIONS
          words[few ? :few : for_an_application(estimate)]
        end

        # True if the value is known well enough to be shown by itself.
        def known?(estimate)
          !estimate.nil? && estimate.sessions >= LEAST_SESSIONS && estimate.high / estimate.low <= COARSEST**2
        end
      end
    end
  end
end
