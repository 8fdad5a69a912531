# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # What the workloads of an application cache, and put into keys.
      module Shop
        # A record as keys ask it and templates render it. No database: a record that is loaded answers as fast.
        Product = Struct.new(:id) do
          # @return [String]
          def cache_key
            "products/#{id}"
          end

          # @return [String]
          def cache_version
            "20261123120000123456"
          end

          # @return [self] for templates
          def to_model
            self
          end

          # @return [String]
          def to_partial_path
            "shop/product"
          end
        end

        LINE = "<li class=\"product\"><a href=\"/products/1\">Käsekuchen</a></li>\n"

        # The first part of a fragment's key: a template and the digest of its source.
        TEMPLATE = "products/_product:5f8a4a3e1c7d2b9f0e6a8c4d1b3f7e92"

        module_function

        # @param bytes [Integer]
        # @return [String] HTML of about so many bytes, frozen
        def html(bytes)
          (LINE * (bytes / LINE.bytesize)).freeze
        end

        # @param text [String]
        # @return [String] an allocated copy of its bytes
        def copy(text)
          String.new(capacity: text.bytesize, encoding: text.encoding) << text
        end
      end
    end
  end
end
