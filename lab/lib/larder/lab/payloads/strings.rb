# frozen_string_literal: true

require_relative "books"

module Larder
  module Lab
    module Payloads
      # The published value of the stores.
      class Hello < Payload
        named "hello", "\"Hello World!\", the published value of the stores"

        # @return [String]
        def value
          "Hello World!"
        end
      end

      # What views cache.
      class Page < Payload
        named "page", "10 KB of HTML, as a view caches it"

        # Bytes.
        SIZE = 10_000

        # @return [String]
        def value
          @value ||= Array.new(100) { |i| row(i) }.join.byteslice(0, SIZE)
        end

        private

        def row(number)
          name = Array.new(4) { Text::WORDS.sample(random: random) }.join(" ")
          "<li class=\"product\" id=\"product-#{number}\"><a href=\"/products/#{number}\">#{name}</a> " \
            "<b>#{name}</b></li>\n"
        end
      end

      # As many bytes as the published payload of the compressors; what is in them does not matter on a wire.
      class Megabyte < Payload
        named "megabyte", "a String of 1,023,931 random letters and digits, the published size"

        # Bytes.
        SIZE = 1_023_931

        # @return [String]
        def value
          @value ||= random.bytes(SIZE).tr("\0-\xFF".b, Books::ALPHABET.join * 8).force_encoding(Encoding::UTF_8)
        end
      end

      # The published payload without ActiveRecord: the same fields with the same kind of text.
      class PlainBooks < Payload
        named "books-plain", "the same books as Hashes, with random text"

        # @return [Array<Hash>]
        def value
          @value ||= Array.new(@count || Books::BOOKS) { |i| book(i) }
        end

        private

        def book(number)
          text = Array.new(520 + (number * 7919 % 81)) { Books::ALPHABET[random.rand(36)] }.join
          { "id" => number, "title" => "Book #{number}", "body" => text, "pages" => 100 + (number % 400),
            "price" => (number % 5000) / 100.0, "in_print" => number.even?, "created_at" => 1_718_280_000 + number,
            "author" => { "id" => (number % Books::AUTHORS) + 1, "name" => "Author #{(number % Books::AUTHORS) + 1}" } }
        end
      end
    end
  end
end
