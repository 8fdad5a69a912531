# frozen_string_literal: true

# Owns `larder sessions user`: whether and where somebody is signed in.

require_relative "command"

module Larder
  module CLI
    class Sessions
      # `larder sessions user`: where somebody is signed in.
      class User < Command
        Sessions.register("user", self)

        # What --help says.
        BANNER = <<~TEXT
          Usage: larder sessions user ID [options]

          Whether somebody is signed in, when they were last seen, and a table of their
          sessions. A handle names a session to `revoke` and `logout --except`; it opens
          nothing. A user goes by the id (42), one of another class than User by class and
          id (Admin/7).
        TEXT

        private

        def words(rest)
          @user = only(rest, "the ID of a user")
        end

        def act
          infos, seen, settings = visit do |sessions|
            understood { [sessions.for(@user), sessions.last_seen(@user), sessions.settings] }
          end
          tell({ user: @user, logged_in: infos.any?, last_seen: seen&.getutc&.iso8601,
                 sessions: infos.map { |info| info.to_h.slice(:handle, :users, :began_at, :used_at) } },
               *summary(infos, seen), *table(infos), *elsewhere(settings))
        end

        def summary(infos, seen)
          last = "last seen #{Words.ago(seen)}, #{Words.moment(seen)}" if seen
          return ["#{@user} is signed in, #{last}."] if infos.any?

          [seen ? "#{@user} is not signed in, #{last}." : "#{@user} is not signed in, and was not seen lately."]
        end

        def table(infos)
          return [] if infos.empty?

          rows = infos.map { |info| [info.handle, Words.moment(info.began_at), Words.ago(info.used_at)] }
          rows.unshift(%w[handle began used])
          widths = rows.transpose.map { |column| column.map(&:size).max }
          ["", *rows.map { |row| "  #{row.zip(widths).map { |cell, width| cell.ljust(width) }.join("  ")}".rstrip }]
        end

        def elsewhere(settings)
          return [] unless settings.backed_by

          ["", "Not known here: sessions that this file has lost, until they are used again and",
           "come back from #{settings.backed_by}."]
        end
      end
    end
  end
end
