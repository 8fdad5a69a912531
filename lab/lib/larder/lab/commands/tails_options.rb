# frozen_string_literal: true

require_relative "suite_options"

module Larder
  module Lab
    module Commands
      # The options of a suite, and how calls come.
      class TailsOptions < SuiteOptions
        QUICK_SECONDS = 0.2
        private_constant :QUICK_SECONDS

        private

        def understood
          given = quick? ? { seconds: QUICK_SECONDS, **calls } : calls
          Suites::Tails.choose(**given)
          super
        end

        # Settings of Suites::Tails, which has the usual ones.
        def calls
          @calls ||= {}
        end

        def amount_options(options)
          super
          options.separator("\nThe calls:")
          usual = Suites::Tails::USUAL
          options.on("--rate N", Float, "calls a second on each store (default #{usual[:rate].round})") do |n|
            calls[:rate] = some("--rate", n)
          end
          options.on("--block-seconds S", Float, "of calls at that rate in each process (default " \
                                                 "#{usual[:seconds].round})") do |seconds|
            calls[:seconds] = block_seconds("--block-seconds", seconds)
          end
          kinds = Suites::Tails::Schedule::ARRIVALS
          options.on("--arrivals KIND", kinds, "#{kinds.join(" or ")} (default #{usual[:arrivals]})") do |kind|
            calls[:arrivals] = kind
          end
        end
      end
    end
  end
end
