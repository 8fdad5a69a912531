# frozen_string_literal: true

module Larder
  module Lab
    module Payloads
      # Records of the published lists.
      Record = ::Struct.new(:id, :property_a, :property_b, :property_c, :property_d)

      # Makes the values.
      module Values
        ALPHABET = [*"0".."9", *"a".."z"].freeze
        WORDS = %w[pear apple plum fresh jam organic glass small large with of and the from region season sweet tart
                   family recipe].freeze
        BOOKS = 1500
        AUTHORS = 40

        module_function

        def random = Random.new(20_240_613)

        def records(count)
          Array.new(count) { |i| Record.new(i, "PropertyA#{i}", "PropertyB#{i}", "PropertyC#{i}", "PropertyD#{i}") }
        end

        # One row: next to text, applications cache such Hashes most.
        def row
          { "id" => 12_345, "name" => "A product of some kind", "price" => 19.99, "stock" => 7, "active" => true,
            "sku" => "ABC-12345", "brand" => "Acme", "weight" => 1.25, "note" => nil, "views" => 100_234 }
        end

        # 10 KB of HTML, as a view caches it.
        def page(random = self.random)
          rows = Array.new(100) do |number|
            name = sentence(random, 4)
            "<li class=\"product\" id=\"product-#{number}\"><a href=\"/products/#{number}\">#{name}</a> " \
              "<b>#{name}</b></li>\n"
          end
          rows.join.byteslice(0, 10_000)
        end

        # The fields of {Books} as Hashes, with random text.
        def plain_books(random = self.random)
          Array.new(BOOKS) do |number|
            author = (number % AUTHORS) + 1
            { "id" => number, "title" => "Book #{number}", "body" => letters(random, 520 + (number * 7919 % 81)),
              "pages" => 100 + (number % 400), "price" => (number % 5000) / 100.0, "in_print" => number.even?,
              "created_at" => 1_718_280_000 + number, "author" => { "id" => author, "name" => "Author #{author}" } }
          end
        end

        # Text that repeats itself as text does, unlike random letters.
        def products(count, random = self.random)
          Array.new(count) do |number|
            { "id" => number, "name" => sentence(random, 3), "description" => sentence(random, 30),
              "price" => random.rand(5000) / 100.0, "stock" => random.rand(500),
              "tags" => Array.new(3) { WORDS.sample(random: random) },
              "updated_at" => "2024-06-#{format("%02d", 1 + random.rand(30))}T12:00:00Z" }
          end
        end

        def sentence(random, words) = Array.new(words) { WORDS.sample(random: random) }.join(" ")

        def letters(random, length) = Array.new(length) { ALPHABET[random.rand(36)] }.join
      end

      # The published value of the stores.
      register("hello", -> { Payload.new("Hello World!") })
      register("page", -> { Payload.new(Values.page) })
      register("hash", -> { Payload.new(Values.row) })
      # The published lists: 50,000 records {Id, PropertyA to D}, or 50 of them.
      register("records", -> { Payload.new(Values.records(50_000)) })
      register("records-50", -> { Payload.new(Values.records(50)) })
      # 50 products of a page, before they are HTML: every serializer can take them.
      register("products", -> { Payload.new(Values.products(50)) })
      # A megabyte of JSON, as an API answers it.
      register("text", -> { Values.products(2600).then { |value| Payload.new(value, JSON.generate(value)) } })
      # A megabyte, the published size.
      register("books-plain", -> { Payload.new(Values.plain_books) })
      # Book.all.to_a: records with an association and random text, as published.
      register("books", lambda do
        require "active_record"
        ActiveRecord::Marshalling.format_version = 7.1 if ActiveRecord.const_defined?(:Marshalling)
        require_relative "books"
        Books.new
      end)
    end
  end
end
