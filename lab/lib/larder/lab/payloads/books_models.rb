# frozen_string_literal: true

# The models of the payload "books". Loaded in worker processes only, after ActiveRecord.

module Larder
  module Lab
    module Payloads
      # A database in memory.
      module BooksModels
        ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
        ActiveRecord::Schema.verbose = false
        ActiveRecord::Schema.define do
          create_table(:authors) do |table|
            table.string :name
            table.timestamps
          end
          create_table(:books) do |table|
            table.references :author
            table.string :title
            table.text :body
            table.integer :pages
            table.decimal :price, precision: 8, scale: 2
            table.boolean :in_print
            table.timestamps
          end
        end

        # Writes books.
        class Author < ActiveRecord::Base
          has_many :books, class_name: "Larder::Lab::Payloads::BooksModels::Book", inverse_of: :author
        end

        # Has one author.
        class Book < ActiveRecord::Base
          belongs_to :author, class_name: "Larder::Lab::Payloads::BooksModels::Author", inverse_of: :books
        end

        # No codec needs the database, and processes are forked after this.
        # @return [void]
        def self.leave
          ActiveRecord::Base.connection_pool.disconnect!
        end

        # @param books [Integer]
        # @param authors [Integer]
        # @yieldparam length [Integer] of a random text
        # @return [void]
        def self.fill(books, authors)
          now = Time.utc(2024, 6, 13, 12)
          Author.insert_all!(Array.new(authors) { |i| { name: "Author #{i}", created_at: now, updated_at: now } })
          rows = Array.new(books) do |i|
            { author_id: (i % authors) + 1, title: "Book #{i}", body: yield(520 + (i * 7919 % 81)),
              pages: 100 + (i % 400), price: (i % 5000) / 100.0, in_print: i.even?, created_at: now + i,
              updated_at: now + i }
          end
          rows.each_slice(200) { |slice| Book.insert_all!(slice) }
        end
      end
    end
  end
end
