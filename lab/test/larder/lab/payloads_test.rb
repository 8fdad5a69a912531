# frozen_string_literal: true

require "test_helper"
require "larder/lab/payloads"
require "zlib"

module Larder
  module Lab
    class PayloadsTest < ActiveSupport::TestCase
      test "the marshalled books have the published size within a thousandth, and random text; JSON is as of a page" do
        books, text = %w[books text].map { |name| Payloads.of(name).bytes }
        assert_in_delta 1_023_931, books.bytesize, 1_024
        assert_includes 1.5..1.75, books.bytesize.fdiv(Zlib.deflate(books).bytesize)
        assert_includes 4.0..5.0, text.bytesize.fdiv(Zlib.deflate(text).bytesize)
      end

      test "records are equal only with all of their attributes and their associations" do
        books = Payloads.of("books")
        copy = Marshal.load(books.bytes)
        assert books.same?(copy)
        copy.last.name = "another"
        assert_not books.same?(copy)
        assert_not books.same?(books.value.first(5))
      end

      test "records and Hashes are the published ones" do
        first = Payloads.of("records").value.first
        assert_equal [0, "PropertyA0", "PropertyD0"], first.to_a.values_at(0, 1, 4)
        assert_equal [50_000, 50], %w[records records-50].map { |name| Payloads.of(name).value.size }
      end

      test "the user's own may be a file of JSON, of Marshal's bytes, of Ruby, or any, or an expression" do
        with_directory do |dir|
          { "a.json" => ["[1]", [1]], "a.marshal" => [Marshal.dump(:a), :a], "a.rb" => ["1 + 1", 2],
            "a.txt" => %w[text text] }.each do |name, (bytes, value)|
            File.binwrite(path = File.join(dir, name), bytes)
            assert_equal value, Payloads.given(path)
          end
        end
        assert_equal [2, "text"], ["ruby:1 + 1", "ruby:'text'"].map { |source| Payloads.given(source) }
      end
    end
  end
end
