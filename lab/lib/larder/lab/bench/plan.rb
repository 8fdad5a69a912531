# frozen_string_literal: true

module Larder
  module Lab
    module Bench
      # A run: which rows take part, which blocks are measured, and how much. `suite` is a {Suite}; `rows` are names in
      # its registry; `blocks` those blocks of the suite that are measured. Each session starts fresh processes, one for
      # a row and one for its twin, and each block has `passes` in a session. In a pass each process takes two turns of
      # `turn_seconds` or more, in an order and in its reverse. `limit_seconds` is what the run may take (nil: any
      # time), see {Pace}. `seed` fixes the order. `urls` are servers of the user's by names in {Servers}, `requires`
      # files that workers load, `directory` is where stores keep their files (nil: the system's).
      Plan = Struct.new(:suite, :rows, :blocks, :sessions, :passes, :turn_seconds, :limit_seconds, :seed, :urls,
                        :requires, :directory, :size, keyword_init: true) do
        def initialize(sessions: 6, passes: 6, turn_seconds: 0.02, limit_seconds: nil, urls: {}, requires: [],
                       directory: nil, size: nil, blocks: nil, **fields)
          super
          self.blocks ||= suite.blocks.reject(&:given)
          self.size ||= suite.size
        end

        # Lists of the blocks that the same processes measure in a session, first calls first.
        def parts = blocks.partition(&:cold).flatten.slice_before(&:fresh).to_a

        # Steps of a session, for progress: processes start, and blocks are measured.
        def steps = parts.size + blocks.size
      end
    end
  end
end
