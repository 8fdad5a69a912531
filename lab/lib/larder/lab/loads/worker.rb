# frozen_string_literal: true

# The process that puts one contender under a load: opens and verifies the store as the worker of `stores` does.
# Started by WorkerProcess; never loaded by the command itself.

require_relative "../worker"
require_relative "../loads"

module Larder
  module Lab
    module Loads
      # Puts one contender under one load.
      class Worker < Lab::Worker
        private

        def open_contender
          @load = Loads.fetch(@job["load"]).new(@job, method(:emit))
          @load.prepare
          super
        end

        def measure
          @load.run(contender)
        end
      end
    end
  end
end

Larder::Lab::Loads::Worker.main if $PROGRAM_NAME == __FILE__
