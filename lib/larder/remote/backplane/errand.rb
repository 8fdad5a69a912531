# frozen_string_literal: true

# Work that the listener must not wait for.

module Larder
  module Remote
    class Backplane
      # Runs a block in a thread, one at a time.
      # @api private
      class Errand
        def initialize(&work)
          @work = work
        end

        # Does nothing while the block runs.
        # @return [void]
        # @raise [ThreadError]
        def start
          @thread = Thread.new(&@work) unless @thread&.alive?
        end

        # @return [void]
        def stop
          @thread&.kill&.join
        end
      end
    end
  end
end
