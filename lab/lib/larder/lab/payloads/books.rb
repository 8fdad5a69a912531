# frozen_string_literal: true

module Larder
  module Lab
    module Payloads
      # The published payload: `Book.all.to_a` with an author each and random text, about a megabyte when marshalled.
      # Real records of ActiveRecord, in a database in memory.
      class Books < Payload
        named "books", "Book.all.to_a: records with an association and random text, as published"

        BOOKS = 1500
        AUTHORS = 40
        ALPHABET = [*"0".."9", *"a".."z"].freeze

        # @return [Array<ActiveRecord::Base>]
        def value
          @value ||= load_books
        end

        # @return [Boolean] attributes and what is loaded, too: records are equal that have the same id
        def same?(copy)
          copy.is_a?(Array) && copy.size == value.size &&
            copy.zip(value).all? do |mine, theirs|
              mine.instance_of?(theirs.class) && mine.attributes == theirs.attributes &&
                mine.association(:author).loaded? && mine.author.attributes == theirs.author.attributes
            end
        end

        private

        def load_books
          require "active_record"
          ActiveRecord::Marshalling.format_version = 7.1 if ActiveRecord.const_defined?(:Marshalling)
          require_relative "books_models"
          BooksModels.fill(@count || BOOKS, AUTHORS) { |length| text(length) }
          BooksModels::Book.includes(:author).order(:id).to_a.tap { BooksModels.leave }
        end

        def text(length)
          Array.new(length) { ALPHABET[random.rand(36)] }.join
        end
      end
    end
  end
end
