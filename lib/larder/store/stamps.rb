# frozen_string_literal: true

# The stamps of values with tags that threads of this process compute.

module Larder
  module Store
    # A stamp tells which deletions of tags came later. It is taken before a value is computed and given to its store,
    # so that a value is deleted whose tag was deleted meanwhile. An older stamp than necessary is always safe. The list
    # is each thread's own, so it needs no lock.
    # @api private
    module Stamps
      # @!attribute records
      #   @return [Records] of the file
      # @!attribute key
      #   @return [String, nil] in the file; nil: of several
      # @!attribute stamp
      #   @return [String, nil] as Larder::Cache#stamp answered
      # @!attribute fiber
      #   @return [Fiber] that took it
      # @!attribute ends
      #   @return [Boolean] it ends with a block; otherwise with the write of its key
      Stamp = Struct.new(:records, :key, :stamp, :fiber, :ends)

      VARIABLE = :larder_stamps
      MOST_NOTED = 1000
      private_constant :VARIABLE, :MOST_NOTED

      class << self
        # While the block runs, what the thread stores began at the stamp.
        def within(records, key, stamp)
          own = Stamp.new(records, key, stamp, Fiber.current, true)
          replace(all + [own])
          yield
        ensure
          replace(all.reject { |other| other.equal?(own) })
        end

        # For a read whose write follows, as in views. The oldest are forgotten if there are too many: then the write
        # begins at an older stamp, or at its own time.
        def note(records, key, stamp)
          noted = all.count { |other| !other.ends }
          replace(all.drop_while { |other| !other.ends && noted >= MOST_NOTED && (noted -= 1) } +
                  [Stamp.new(records, key, stamp, Fiber.current, false)])
        end

        # @return [String, nil] the stamp of a write; nil: it began now
        def of(records, key)
          mine = all.select { |one| one.records.equal?(records) }
          own = mine.select { |one| one.key == key }
          found = own.find { |one| one.fiber == Fiber.current } || own.first || mine.find(&:ends)
          replace(all.reject { |one| one.equal?(found) }) if found && !found.ends
          found&.stamp
        end

        # Those that no write has followed.
        def forget_noted
          replace(all.select(&:ends)) unless all.empty?
        end

        private

        def all
          Thread.current.thread_variable_get(VARIABLE) || []
        end

        def replace(list)
          Thread.current.thread_variable_set(VARIABLE, list)
        end
      end
    end
  end
end
