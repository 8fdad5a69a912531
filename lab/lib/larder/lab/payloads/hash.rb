# frozen_string_literal: true

module Larder
  module Lab
    module Payloads
      # What applications cache most next to text: one row.
      class SmallHash < Payload
        named "hash", "a Hash of ten text and number fields"

        # @return [Hash{String => Object}]
        def value
          { "id" => 12_345, "name" => "A product of some kind", "price" => 19.99, "stock" => 7, "active" => true,
            "sku" => "ABC-12345", "brand" => "Acme", "weight" => 1.25, "note" => nil, "views" => 100_234 }
        end
      end
    end
  end
end
