# frozen_string_literal: true

# The list of kinds of trials: compressors, serializers, strategies on a server, cells of a matrix. Each is a file in
# kinds/ that says what goes there and back. Loaded in worker processes only.

require "larder/cli/registry"

module Larder
  module Lab
    # What a worker does with a payload.
    module Kinds
      extend CLI::Registry
      holds "kind of trial"

      # Answers `run(payload)`.
      class Kind
        # @param worker [TrialWorker]
        # @param job [Hash{String => Object}]
        def initialize(worker, job)
          @worker = worker
          @job = job
        end

        private

        def options
          @job.fetch("options", {}).transform_keys(&:to_sym)
        end

        # @return [Integer, nil] bytes by Marshal; nil: it cannot
        def marshalled(value)
          Marshal.dump(value).bytesize
        rescue TypeError, SystemStackError
          nil
        end

        # What is right for a serializer that brings back likenesses.
        def judge(payload, way)
          return payload.method(:same?) if way.keeps

          likeness = TrialCodecs.plain(payload.value)
          ->(copy) { copy == likeness }
        end
      end
    end
  end
end

require_relative "kinds/compressors"
require_relative "kinds/serializers"
require_relative "kinds/strategies"
require_relative "kinds/cells"
require_relative "kinds/nature"
require_relative "kinds/parts"
require_relative "kinds/store_calls"
require_relative "kinds/pasted"
