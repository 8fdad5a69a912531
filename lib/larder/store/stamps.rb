# frozen_string_literal: true

# The stamps of values with tags that fibers of this process compute.

module Larder
  module Store
    # A stamp tells which deletions of tags came later. It is taken before a value is computed and given to its store,
    # so that a deletion while it is computed deletes it. An older stamp than necessary is always safe. The
    # lists are each fiber's own, so they need no lock, and end with it.
    # @api private
    module Stamps
      # @!attribute records
      #   @return [Records] of the file
      # @!attribute key
      #   @return [String, nil] in the file; nil: of several
      # @!attribute stamp
      #   @return [String] as Larder::Cache#stamp answered, or NEVER
      Stamp = Struct.new(:records, :key, :stamp)

      # Of a value that began to be computed without a file: it is not stored, as it is unknown what was deleted.
      NEVER = (("\0" * 8) + ("\xFF".b * 8)).freeze
      # Of a fiber: stamps that end with a block; by key those that end with the write of it; how many pieces of work
      # of the application it runs, one within the other.
      RUNNING = :larder_running_stamps
      NOTED = :larder_noted_stamps
      DEPTH = :larder_work_depth
      MOST_KEYS = 10_000
      MOST_OF_A_KEY = 8
      private_constant :RUNNING, :NOTED, :DEPTH, :MOST_KEYS, :MOST_OF_A_KEY

      class << self
        # While the block runs, what the fiber stores began at the stamp.
        def within(records, key, stamp)
          running << Stamp.new(records, key, stamp)
          yield
        ensure
          running.pop
        end

        # For a read whose write follows, as in views.
        def note(records, key, stamp)
          noted = (Thread.current[NOTED] ||= {})
          return if noted.size >= MOST_KEYS && !noted.key?(key) # its write takes the latest of all

          stamps = (noted[key] ||= [])
          stamps.shift if stamps.size >= MOST_OF_A_KEY
          stamps << Stamp.new(records, key, stamp)
        end

        # @param follows_read [Boolean] may a read have noted it?
        # @return [String, nil] the stamp of a write; nil: it began now
        def of(records, key, follows_read:)
          mine = running.select { |one| one.records.equal?(records) }
          found = (take_noted(records, key) if follows_read) || mine.reverse.find { |one| one.key == key } ||
                  mine.last || (latest_of_many if follows_read)
          found&.stamp
        end

        # A piece of work of the application, as a request, begins. It may do so within another one.
        def begin_work
          Thread.current[DEPTH] = Thread.current[DEPTH].to_i + 1
        end

        # It ends: forgets reads that no write has followed.
        def end_work
          depth = Thread.current[DEPTH] = [Thread.current[DEPTH].to_i - 1, 0].max
          Thread.current[NOTED] = nil if depth.zero?
        end

        private

        def running
          Thread.current[RUNNING] ||= []
        end

        # The latest of the key.
        def take_noted(records, key)
          stamps = Thread.current[NOTED]&.[](key)
          at = stamps&.rindex { |one| one.records.equal?(records) }
          stamps.delete_at(at) if at
        end

        # Where reads were no longer noted, one of before them.
        def latest_of_many
          noted = Thread.current[NOTED]
          noted.values.flatten.last if noted && noted.size >= MOST_KEYS
        end
      end
    end
  end
end
