# frozen_string_literal: true

require_relative "trace"

module Larder
  module Lab
    module Hitratio
      # Patterns of requests for objects of one size that distinguish policies, from a seed the same on every machine.
      module Synthetic
        # Descriptions by the names users type.
        PATTERNS = {
          "zipf"  => "few objects are requested often, most of them rarely",
          "scan"  => "the same, and now and then a row of objects that never come back",
          "loop"  => "all objects in a row, again and again: the worst for policies by recency",
          "shift" => "few objects often, and every so often other ones"
        }.freeze
        # Parts of all requests: of shift, between two changes; of scan, between two rows of new objects; of such a row.
        EVERY = { "shift" => 0.2, "scan" => 0.08 }.freeze
        ROW = 0.04
        # The n-th object is asked for 1 / n ** SKEW times as often as the first (Zipf's law).
        SKEW = 0.9

        module_function

        # Whether it names a pattern, and no file.
        def named?(name) = PATTERNS.key?(name) && !File.exist?(name)

        def make(pattern, objects: 100_000, requests: 250_000, seed: 1)
          return Trace.new(pattern, Array.new(requests) { |i| i % objects }) if pattern == "loop"

          every, row = [EVERY[pattern], ROW].map { |part| (part.to_f * requests).round }
          random = Random.new(seed)
          ranks = zipf(objects, random)
          offset = 0
          fresh = objects - 1
          Trace.new(pattern, Array.new(requests) do |i|
            # The popular objects move by a random part of all.
            offset = random.rand(objects) if pattern == "shift" && (i % every).zero?
            next fresh += 1 if pattern == "scan" && i % (every + row) >= every

            (ranks.call + offset) % objects
          end)
        end

        # Draws objects by how popular they are, by inversion of the cumulated shares.
        def zipf(count, random)
          sum = 0.0
          cumulated = Array.new(count) { |i| sum += 1.0 / ((i + 1)**SKEW) }
          lambda do
            wanted = random.rand * sum
            cumulated.bsearch_index { |share| share >= wanted } || (count - 1)
          end
        end
        private_class_method :zipf
      end
    end
  end
end
