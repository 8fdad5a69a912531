# frozen_string_literal: true

# Owns `larder sessions online`: who was here of late.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions online`: who was here of late.
      class Online < Command
        Sessions.register("online", self)

        BANNER = <<~TEXT
          Usage: larder sessions online [--last 5m] [--limit 100] [options]

          Who is signed in and was here of late, the one used last before the others, to
          a minute. It looks at every session, some 2 s for 100,000 of them.
        TEXT
        private_constant :BANNER

        private

        def parser
          @last = 300
          @limit = 100
          @parser ||= explained(BANNER) do |options|
            options.on("--last TIME", "30s, 5m, 2h, 1d or 1w; default: 5m") do |text|
              @last = Words.seconds(text, "--last")
            end
            options.on("--limit NUMBER", Integer, "of users; default: 100") { |number| @limit = number }
          end
        end

        def act
          users = visit { |sessions| understood { sessions.online(last: @last, limit: @limit) } }
          machines = users.map { |user, used| { user: user, used_at: used.getutc.iso8601 } }
          tell({ last: @last, users: machines }, *table(users))
        end

        def table(users)
          return ["Nobody who is signed in was here in the last #{Words.span(@last)}."] if users.empty?

          width = users.keys.map(&:size).max
          users.map { |user, used| "#{user.ljust(width)}  #{Words.ago(used)}" }
        end
      end
    end
  end
end
