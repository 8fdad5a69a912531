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
      Stamp = Struct.new(:records, :key, :stamp, :fiber)

      # Of a thread: stamps that end with a block, and by key those that end with the write of it.
      RUNNING = :larder_running_stamps
      NOTED = :larder_noted_stamps
      MOST_KEYS = 1000
      MOST_OF_A_KEY = 8
      private_constant :RUNNING, :NOTED, :MOST_KEYS, :MOST_OF_A_KEY

      class << self
        # While the block runs, what the thread stores began at the stamp.
        def within(records, key, stamp)
          own = Stamp.new(records, key, stamp, Fiber.current)
          self.running += [own]
          yield
        ensure
          self.running = running.reject { |other| other.equal?(own) }
        end

        # For a read whose write follows, as in views. The oldest are forgotten if there are too many: then the write
        # begins at an older stamp, or at its own time.
        def note(records, key, stamp)
          noted = Thread.current.thread_variable_get(NOTED) || {}
          noted.shift if noted.size >= MOST_KEYS && !noted.key?(key)
          stamps = (noted[key] ||= [])
          stamps.shift if stamps.size >= MOST_OF_A_KEY
          stamps << Stamp.new(records, key, stamp, Fiber.current)
          Thread.current.thread_variable_set(NOTED, noted)
        end

        # @return [String, nil] the stamp of a write; nil: it began now
        def of(records, key)
          mine = running.select { |one| one.records.equal?(records) }
          found = take_noted(records, key) || mine.reverse.find { |one| one.key == key } || mine.first
          found&.stamp
        end

        # Those that no write has followed.
        def forget_noted
          Thread.current.thread_variable_set(NOTED, nil)
        end

        private

        def running
          Thread.current.thread_variable_get(RUNNING) || []
        end

        def running=(list)
          Thread.current.thread_variable_set(RUNNING, list)
        end

        # The latest of this fiber, otherwise the oldest of another.
        def take_noted(records, key)
          stamps = Thread.current.thread_variable_get(NOTED)&.[](key) || []
          mine = stamps.select { |one| one.records.equal?(records) }
          found = mine.reverse.find { |one| one.fiber == Fiber.current } || mine.first
          stamps.delete_if { |one| one.equal?(found) } if found
          found
        end
      end
    end
  end
end
