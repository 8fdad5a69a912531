# frozen_string_literal: true

# Owns `larder sessions active`: how many sessions were used of late.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions active`: how many were used of late.
      class Active < Command
        Sessions.register("active", self)

        BANNER = <<~TEXT
          Usage: larder sessions active [--last 5m] [--signed-in | --anonymous] [options]

          How many sessions were used of late: to a minute, beyond 2 hours to an hour,
          beyond 3 days to a day.
        TEXT
        KINDS = { true => "signed in", false => "anonymous" }.freeze
        private_constant :BANNER, :KINDS

        private

        def parser
          @last = 300
          @parser ||= explained(BANNER) do |options|
            options.on("--last TIME", "30s, 5m, 2h, 1d or 1w; default: 5m") do |text|
              @last = Words.seconds(text, "--last")
            end
            options.on("--signed-in", "those who are signed in only") { choose(true) }
            options.on("--anonymous", "the others only") { choose(false) }
          end
        end

        def choose(signed_in)
          raise UsageError, "--signed-in and --anonymous exclude each other" if @signed_in == !signed_in

          @signed_in = signed_in
        end

        def act
          kinds = @signed_in.nil? ? KINDS : KINDS.slice(@signed_in)
          counts = visit do |sessions|
            kinds.to_h { |kind, name| [name, sessions.active(last: @last, signed_in: kind)] }
          end
          machines = counts.transform_keys { |name| name.tr(" ", "_") }
          machines = { last: @last, **(@signed_in.nil? ? { active: counts.values.sum } : {}), **machines }
          tell(machines, sentence(counts))
        end

        def sentence(counts)
          kind = "#{counts.keys.first.tr(" ", "-")} " if counts.one?
          each = ": #{counts.map { |name, count| "#{Words.count(count)} #{name}" }.join(", ")}" unless counts.one?
          "#{Words.counted(counts.values.sum, "#{kind}session")} used in the last #{Words.span(@last)}#{each}"
        end
      end
    end
  end
end
