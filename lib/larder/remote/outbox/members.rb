# frozen_string_literal: true

# Knows which remote stores the processes of a machine have used at one path.

require "json"

module Larder
  module Remote
    class Outbox
      # One record of the journal's file has a row for each remote store and prefix of keys. Processes renew it. After
      # {DAY} without that, its remote store is no longer taken to be in use.
      # @api private
      class Members
        NAME = "remotes"
        DAY = 86_400
        # Attempts to change the record, while other processes change it.
        ATTEMPTS = 100
        # Rows at most. Those that were not renewed for the longest time are dropped.
        MOST = 64
        # The remote store's id, what keys of its namespace start with, Unix time, and whether all is listed for it
        # that is listed for the others.
        Row = Struct.new(:remote, :prefix, :seen, :whole)
        private_constant :NAME, :ATTEMPTS, :MOST, :Row

        # @param cache [Larder::Cache] the journal's file
        def initialize(cache)
          @cache = cache
        end

        # @param remote [Integer]
        # @param prefix [String]
        # @return [Boolean] is all listed for it that is listed for the others? If not, the caller does so
        # @raise [Larder::Error]
        def enter(remote, prefix)
          change do |rows|
            row = rows.find { |each| each.remote == remote && each.prefix == prefix }
            rows << (row = Row.new(remote, prefix, 0, false)) unless row
            row.whole = false unless recent?(row)
            row.seen = now
            row.whole
          end
        end

        # All is listed for it that is listed for the others.
        #
        # @param (see #enter)
        # @raise [Larder::Error]
        def complete(remote, prefix)
          change do |rows|
            rows.each { |row| row.whole = true if row.remote == remote && row.prefix == prefix }
          end
        end

        # @return [Array<Integer>] remote stores that are in use
        def remotes
          rows.select { |row| recent?(row) }.map(&:remote).uniq
        end

        # @return [Array<Integer>] remote stores that were in use
        def all
          rows.map(&:remote).uniq
        end

        # @param remote [Integer]
        # @return [Array<String>] what keys of its namespaces start with
        def prefixes(remote)
          rows.select { |row| row.remote == remote }.map(&:prefix).uniq
        end

        private

        def rows
          parse(@cache.get(NAME))
        end

        def parse(text)
          JSON.parse(text || "[]").map do |remote, prefix, seen, whole|
            Row.new(remote, prefix.unpack1("m0"), seen, whole)
          end
        end

        # @return [Object] the block's value
        def change
          ATTEMPTS.times do
            before = @cache.get(NAME)
            rows = parse(before)
            answer = yield rows
            after = dump(rows)
            stored = before ? @cache.cas(NAME, before, after, pin: true) : @cache.add(NAME, after, pin: true)
            return answer if stored
          end
          raise BusyError, "the list of remote stores could not be changed"
        end

        # Prefixes of a remote store that were not used for a day are dropped.
        def dump(rows)
          rows = rows.sort_by { |row| -row.seen }
          rows = rows.select { |row| recent?(row) || rows.find { |each| each.remote == row.remote }.equal?(row) }
          JSON.generate(rows.first(MOST).map do |row|
            [row.remote, [row.prefix].pack("m0"), row.seen, row.whole]
          end)
        end

        def recent?(row)
          (now - row.seen).abs < DAY
        end

        def now
          Process.clock_gettime(Process::CLOCK_REALTIME, :second)
        end
      end
    end
  end
end
