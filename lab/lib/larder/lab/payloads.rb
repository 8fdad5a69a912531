# frozen_string_literal: true

require "json"
require_relative "errors"
require_relative "suites/shop"

module Larder
  module Lab
    # The payloads that codecs are tried on. Each is made from a seed, in a worker process or before workers are forked,
    # so that all rows get the same.
    # @api private
    module Payloads
      # A value, and its bytes for compressors: Marshal's, unless it is text.
      Payload = ::Struct.new(:value, :text) do
        def bytes = @bytes ||= text || Marshal.dump(value).freeze

        # True if a copy that a codec brought back is as good as the original.
        def same?(copy) = copy == value
      end

      # Real records of Active Record. Those that have the same id are equal for it, so attributes are compared, and
      # what is loaded.
      class Records < Payload
        def same?(copy)
          copy.is_a?(Array) && copy.size == value.size &&
            copy.zip(value).all? do |mine, theirs|
              mine.instance_of?(theirs.class) && mine.attributes == theirs.attributes &&
                mine.association(:maker).loaded? && mine.maker.attributes == theirs.maker.attributes
            end
        end
      end

      # Begins an expression of Ruby.
      EXPRESSION = "ruby:"
      # A record of the published lists.
      Record = ::Struct.new(:id, :property_a, :property_b, :property_c, :property_d)

      # Makers of payloads, by name. Only "given" depends on what the user gives.
      MAKERS = {
        # The published value of the stores.
        "hello" => ->(_) { Payload.new("Hello World!") },
        # 10 KB of HTML, as a view caches it.
        "page" => ->(_) { Payload.new(Suites::Shop::Text.html(1, 10_000).byteslice(0, 10_000)) },
        # One row: next to text, applications cache such Hashes most.
        "hash" => lambda do |_|
          Payload.new({ "id" => 12_345, "name" => "A product of some kind", "price" => 19.99, "stock" => 7,
                        "active" => true, "sku" => "ABC-12345", "brand" => "Acme", "weight" => 1.25, "note" => nil,
                        "views" => 100_234 })
        end,
        # The published lists: 50,000 records {Id, PropertyA to D}, or 50 of them.
        "records" => ->(_) { Payload.new(records(50_000)) },
        "records-50" => ->(_) { Payload.new(records(50)) },
        "products" => ->(_) { Payload.new(products(50)) },
        # A megabyte of JSON, as an API answers it.
        "text" => ->(_) { JSON.generate(products(7000)).then { |json| Payload.new(json, json) } },
        # The published Book.all.to_a: records with an association and random text.
        "books" => ->(_) { Records.new(books) },
        "given" => lambda do |source|
          value = given(source.to_s)
          Payload.new(value, (value.b if value.is_a?(String)))
        end
      }.freeze

      module_function

      # The payload of that name, the same for all blocks of a process; "given" is made of a source, see {given}. Raises
      # Unavailable if it cannot be made.
      def of(name, source = nil)
        (@made ||= {})[name] ||= MAKERS.fetch(name).call(source)
      rescue Unavailable
        raise
      rescue StandardError, ScriptError, SystemStackError => error # the user's own words need not be Ruby
        raise Unavailable, "the payload cannot be made: #{error.class}: #{error.message.lines.first.to_s.strip}"
      end

      # The value of what --payload names, on the user's own machine: an expression or a file of Ruby, of JSON or of
      # Marshal's bytes; the bytes of any other file.
      def given(source)
        return TOPLEVEL_BINDING.eval(source.delete_prefix(EXPRESSION), "--payload") if source.start_with?(EXPRESSION)

        bytes = File.binread(source)
        case File.extname(source)
        when ".json" then JSON.parse(bytes)
        when ".marshal" then Marshal.load(bytes)
        when ".rb" then TOPLEVEL_BINDING.eval(bytes.force_encoding(Encoding::UTF_8), source)
        else bytes
        end
      end

      def records(count)
        Array.new(count) { |i| Record.new(i, "PropertyA#{i}", "PropertyB#{i}", "PropertyC#{i}", "PropertyD#{i}") }
      end

      # 1,500 records, each with one of 40 makers and text of random letters: a megabyte when marshalled.
      def books
        random = Random.new(20_240_613)
        letters = [*"0".."9", *"a".."z"]
        Suites::Shop::Catalog.make(1500, 40) do |number|
          Array.new(516 + (number * 7919 % 81)) { letters[random.rand(36)] }.join
        end
      end

      # Products of an order as JSON has them: every serializer can take them.
      def products(count) = JSON.parse(JSON.generate(Suites::Shop::Text.document(1, 150 * count)))["items"]
    end
  end
end
