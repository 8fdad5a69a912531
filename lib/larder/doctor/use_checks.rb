# frozen_string_literal: true

# Owns what is asked of a cache that opens: by its figures, whether it is the one that is wanted, and does what it can.

module Larder
  class Doctor
    # Checks of {Doctor}.
    module UseChecks
      # Names the size for deployments.
      SIZE = "LARDER_SIZE"
      # Reads below which nothing is said of how many hit.
      ENOUGH_READS = 1000
      # Full, with fewer hits than this, where more than a tenth of what was stored had to leave: too small.
      FULL = 0.9
      FEW_HITS = 0.8
      MANY_EVICTED = 0.1
      # Of the room for what is pinned: sessions soon have none.
      PINNED = 0.8
      private_constant :SIZE, :ENOUGH_READS, :FULL, :FEW_HITS, :MANY_EVICTED, :PINNED

      private

      def size
        wanted = Application.variable(SIZE)
        return if wanted.nil?

        wanted_bytes = Size.parse(wanted, SIZE)
        return if @stats.nil? # none that can be given another
        return :sound if (0...FileChecks::PAGE).cover?(bytes - wanted_bytes)

        ["#{SIZE} is #{wanted}, and the file has #{shown(bytes)}: a file that is there keeps its size",
         "larder resize #{quoted(@path)} #{quoted(wanted)}"]
      rescue ::ArgumentError => error
        [error.message, "export #{SIZE}=#{mebibytes(bytes)}MB"]
      end

      def damage
        return unless @stats

        records, shards = @stats.values_at(:damaged, :resets)
        return :sound if records.zero? && shards.zero?

        ["#{records} records were damaged, and #{shards} of #{@stats[:shards]} shards emptied for it: the disk, the " \
         "memory or somebody who writes to the file. If it happens again in a new one, look at `dmesg`",
         resize(bytes)]
      end

      def pressure
        return unless @stats

        reads = @stats[:hits] + @stats[:misses]
        return :sound if reads < ENOUGH_READS || @stats[:fullness] < FULL || @stats[:hit_ratio] >= FEW_HITS ||
                         @stats[:evictions] < @stats[:sets] * MANY_EVICTED

        evicted = @stats[:evictions].fdiv(@stats[:sets])
        ["it is full, #{per_cent(@stats[:hit_ratio])} of reads find something, and #{per_cent(evicted)} of what was " \
         "stored had to leave: a larger one hits more",
         resize(bytes * 2)]
      end

      # Of a file of sessions: those who are signed in are pinned.
      def sign_ins
        pinned, room = @stats&.values_at(:pinned_bytes, :pinned_room_bytes)
        return if pinned.nil? || room.nil? || !pinned.positive?

        share = pinned.fdiv(room)
        return :sound if share < PINNED

        ["#{per_cent(share)} of its room for signed-in sessions is taken, and from 90 % on sign-ins are refused",
         "larder resize --keep #{quoted(@path)} #{mebibytes(bytes * 2)}MB # while the application is stopped"]
      end

      # Of the application's store alone; a file knows nothing of it.
      def fast_path
        told = @stats && @stats[:fast_path]
        return if told.nil?
        return :sound if told[:on]

        ["#{told[:off_for].join(", ")} go#{"es" if told[:off_for].one?} the slow way through Rails: " \
         "#{told[:reasons].join("; ")}",
         "bin/rails runner 'pp Rails.cache.stats[:fast_path]' # again without what is named"]
      end

      def per_cent(share)
        "#{(share * 100).round} %"
      end
    end
  end
end
