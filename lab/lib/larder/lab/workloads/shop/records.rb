# frozen_string_literal: true

require "active_record"

module Larder
  module Lab
    module Workloads
      module Shop
        # Records in a database in memory. Loaded in worker processes only.
        module Records
          ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
          ActiveRecord::Marshalling.format_version = 7.1 # as new applications have it
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
          end

          # Has an author.
          class Book < ActiveRecord::Base
            belongs_to :author, class_name: "Larder::Lab::Workloads::Shop::Records::Author"
          end

          NOW = Time.utc(2026, 11, 23, 12, 30)
          BOOKS = 25
          BOOKS.times do |i|
            author = Author.create!(name: "Author #{i}", created_at: NOW, updated_at: NOW)
            Book.create!(author: author, title: "Book #{i}", body: "Käse und Brot. " * 20, pages: 100 + i,
                         price: i + 0.5, in_print: i.even?, created_at: NOW + i, updated_at: NOW + i)
          end

          # What the database gave for them.
          BOOK_ROWS = ActiveRecord::Base.connection.select_all("SELECT * FROM books ORDER BY id").to_a.freeze
          AUTHOR_ROWS = ActiveRecord::Base.connection.select_all("SELECT * FROM authors ORDER BY id").to_a.freeze

          module_function

          # @param kind [String] "hash", "record" or "records"
          # @return [Object] as an application has it before it writes it
          def value(kind)
            case kind
            when "hash" then make("hash")
            when "record" then Book.find(1)
            else Book.includes(:author).order(:id).to_a
            end
          end

          # @return [Object] the same, allocated without a database
          def make(kind)
            case kind
            when "hash"
              { id: 1, name: +"Teapot", price: 19.5, tags: [+"kitchen", +"tea"], available: true, seller: nil,
                stock: 12, made_at: NOW.dup, description: +"Of stoneware, for four cups" }
            when "record" then Book.instantiate(BOOK_ROWS.first.dup)
            else books
            end
          end

          # @return [Array<Book>] all, each with its author
          def books
            BOOK_ROWS.each_with_index.map do |row, i|
              book = Book.instantiate(row.dup)
              book.association(:author).target = Author.instantiate(AUTHOR_ROWS[i].dup)
              book
            end
          end

          # @return [Boolean] attributes and what is loaded, too: records are equal that have the same id
          def same?(found, value)
            return false unless found.instance_of?(value.class)
            return found == value if value.is_a?(Hash)
            return found.attributes == value.attributes unless value.is_a?(Array)

            found.size == value.size && found.zip(value).all? do |one, other|
              same?(one, other) && one.association(:author).loaded? && same?(one.author, other.author)
            end
          end
        end
      end
    end
  end
end
