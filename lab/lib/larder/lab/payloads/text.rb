# frozen_string_literal: true

module Larder
  module Lab
    module Payloads
      # A megabyte as an API would answer it: text that repeats itself as text does, unlike random letters.
      class Text < Payload
        named "text", "a megabyte of JSON as an API answers it"

        WORDS = %w[pear apple plum fresh jam organic glass small large with of and the from region season sweet tart
                   family recipe].freeze

        COUNT = 2600

        # @return [Array<Hash>]
        def value
          @value ||= Array.new(@count || self.class::COUNT) { |i| product(i) }
        end

        private

        def packed
          require "json"
          JSON.generate(value)
        end

        def product(number)
          { "id" => number, "name" => sentence(3), "description" => sentence(30), "price" => random.rand(5000) / 100.0,
            "stock" => random.rand(500), "tags" => Array.new(3) { WORDS.sample(random: random) },
            "updated_at" => "2024-06-#{format("%02d", 1 + random.rand(30))}T12:00:00Z" }
        end

        def sentence(words)
          Array.new(words) { WORDS.sample(random: random) }.join(" ")
        end
      end

      # What one page shows, before it is HTML: every serializer can take it.
      class Products < Text
        named "products", "50 products as Hashes, what a page of a shop shows"

        COUNT = 50

        private

        def packed
          Marshal.dump(value)
        end
      end
    end
  end
end
