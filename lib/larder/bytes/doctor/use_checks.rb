# frozen_string_literal: true

# Checks a cache that opens by its statistics: its size, damage, evictions, room for pinned items and for processes, and
# the fast path.

module Larder
  class Doctor
    # Checks of {Doctor}.
    module UseChecks
      # The environment variable for the size.
      SIZE = "LARDER_SIZE"
      # With fewer reads, the hit ratio is not judged.
      ENOUGH_READS = 1000
      # A cache is too small if it is fuller than this, has fewer hits than this, and has evicted more than this part.
      FULL = 0.9
      FEW_HITS = 0.8
      MANY_EVICTED = 0.1
      # The part of the room for pinned items from which stores, or sign-ins, will soon be refused.
      PINNED = 0.8
      # Rows of configurations in a file (LARD_CONFIGURATIONS of the engine, without the row of none).
      CONFIGURATIONS = 7
      # Files of these bytes and below have room for equally many processes; from the last on there is no more room.
      LEAST_ROOM = 1 << 20
      MOST_ROOM = 16 << 20
      # Bytes of the journal of a cache with remote:.
      JOURNAL = 4 << 20
      REPORTS = "grep LarderStore log/*.log"
      private_constant :JOURNAL, :REPORTS, :SIZE, :ENOUGH_READS, :FULL, :FEW_HITS, :MANY_EVICTED, :PINNED,
                       :CONFIGURATIONS, :LEAST_ROOM, :MOST_ROOM

      # Seven are as many as a deploy and its rollback need, also if they were different ones: the rows are freed when
      # all are taken. If they were, and are taken again, more are in use.
      #
      # @param stats [Hash] of the cache
      # @return [Boolean] do stores of more configurations use it than it has rows?
      def self.configurations_full?(stats)
        !stats[:configurations_full_age].nil? && stats[:configurations] >= CONFIGURATIONS
      end

      private

      def size
        wanted = Application.variable(SIZE)
        return if wanted.nil?

        wanted_bytes = Size.parse(wanted, SIZE)
        return if @stats.nil? # it cannot be resized
        return :sound if (0...FileChecks::PAGE).cover?(bytes - wanted_bytes)

        ["#{SIZE} is #{wanted}, and the file has #{Size.text(bytes)}: an existing file keeps its size",
         resize(wanted)]
      rescue ::ArgumentError => error
        [error.message, "export #{SIZE}=#{mebibytes(bytes)}MB"]
      end

      def damage
        return unless @stats

        records, shards = @stats.values_at(:damaged, :resets)
        return :sound if records.zero? && shards.zero?

        ["#{records} #{records == 1 ? "record was" : "records were"} damaged, and #{shards} of #{@stats[:shards]} " \
         "shards emptied because of damage by the disk, the memory or another program. If it happens again in a new " \
         "file, check `dmesg`",
         resize(bytes)]
      end

      def pressure
        return unless @stats

        return :sound if @stats[:fullness] < FULL || @stats[:evictions] <= @stats[:sets] * MANY_EVICTED
        return if @stats[:hits] + @stats[:misses] < ENOUGH_READS # its hit ratio is not known
        return :sound if @stats[:hit_ratio] >= FEW_HITS

        evicted = @stats[:evictions].fdiv(@stats[:sets])
        ["it is full, #{per_cent(@stats[:hit_ratio])} of reads find something, and #{per_cent(evicted)} of stored " \
         "items were evicted: a larger cache has more hits",
         resize(bytes * 2)]
      end

      # A process of another container has another number here, if any.
      def locks
        return unless @stats

        locked, stopped = @stats[:locked_shards], @pids.select { |pid| stopped?(pid) }
        return :sound if locked.zero? || stopped.empty?

        ["#{locked} of its #{@stats[:shards]} shards are locked, and process #{stopped.join(", ")} is stopped: until " \
         "it goes on, writes to what it has locked are refused",
         "kill -CONT #{stopped.join(" ")}"]
      end

      # True if a signal or a debugger has stopped it.
      def stopped?(pid)
        File.binread("/proc/#{pid}/stat").match?(/\) [Tt] [^)]*\z/)
      rescue SystemCallError
        false
      end

      # A few more may use it that do not create it: this one does if it is a command.
      def processes
        return unless @stats

        room, open = @stats[:process_room], @pids.size - (@store ? 0 : 1)
        return :sound if open < room

        ["#{open} processes have it open, and it has room for #{room}: in others each read is a miss, and nothing " \
         "is stored",
         bytes < MOST_ROOM ? resize([bytes, LEAST_ROOM].max * 2) : "# stop some, or give some of them another path"]
      end

      def configurations
        return if @stats.nil? || @stats[:configurations].zero?
        return :sound unless UseChecks.configurations_full?(@stats)

        emptied = (Time.now - @stats[:configurations_full_age]).strftime("%F %T")
        ["stores of more than #{CONFIGURATIONS} configurations use it, which differ in the servers of remote:, in " \
         "backplane: or in local_expires_in:. It was emptied at #{emptied}, when one had no room, and is again when " \
         "another one begins to use it; until then stores without room keep nothing in it",
         "grep -rnE 'remote:|backplane:|local_expires_in:' config lib # give stores the same values, or other paths"]
      end

      # In a file of sessions, those that are signed in are pinned.
      def pinned
        used, room = @stats&.values_at(:pinned_bytes, :pinned_room_bytes)
        return if used.nil? || room.nil? || !used.positive?

        share = used.fdiv(room)
        return :sound if share < PINNED

        [sessions? ? full_of_sessions(share) : full_of_pinned(share), resize(bytes * 2, keep: true)]
      end

      def full_of_sessions(share)
        "#{per_cent(share)} of the room for signed-in sessions is used, and from 90 % on sign-ins are refused"
      end

      def full_of_pinned(share)
        "#{per_cent(share)} of the room for pinned items is used; when it is full, stores with `pin: true` raise " \
          "Larder::FullError"
      end

      # With remote: there is a list of changes, or else the lock file of an attempt to make it.
      def journal
        file = Companions.journal(@path)
        return unless [file, "#{file}.lock"].any? { |name| all_files.key?(name) }

        cause, fix = Creation.hindrance(file, JOURNAL) unless all_files.key?(file)
        return :sound unless cause

        ["there is no list of changes that the store behind it (remote:) does not take: only the process that makes " \
         "such a change knows it, and the others do not read that store until it was applied. #{cause}", fix]
      end

      # Also outside of the application, by the file that is there as long as changes are listed.
      def remote
        return if !@quick && journal.is_a?(Array) # which is why

        told = @stats && @stats[:remote]
        return if told.nil? && !changes_listed?
        return :sound if told && !told[:waiting]

        listed = told&.fetch(:listed) || "all"
        ["the store behind it (remote:) has not got #{listed} changes of this machine, as it does not answer or " \
         "refuses them: until it has, it is not read",
         "#{REPORTS} # see that it answers; they are applied by the next call after that"]
      end

      def changes_listed?
        all_files.keys.any? { |file| file.end_with?(".pending") }
      end

      # Only for the application's store.
      def fast_path
        told = @stats && @stats[:fast_path]
        return if told.nil?
        return :sound if told[:on]

        ["calls use Rails' slower ordinary path: #{told[:reasons].join("; ")}",
         "bin/rails runner 'pp Rails.cache.stats[:fast_path]' # run it again without what is named"]
      end

      def per_cent(share)
        "#{(share * 100).round} %"
      end
    end
  end
end
