# frozen_string_literal: true

# The published payload: `Book.all.to_a` with an author each and random text, about a megabyte when marshalled. Loaded
# in worker processes only, after ActiveRecord.

module Larder
  module Lab
    module Payloads
      # Real records of ActiveRecord, in a database in memory.
      class Books < Payload
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
          has_many :books, class_name: "Larder::Lab::Payloads::Books::Book", inverse_of: :author
        end

        # Has one author.
        class Book < ActiveRecord::Base
          belongs_to :author, class_name: "Larder::Lab::Payloads::Books::Author", inverse_of: :books
        end

        def initialize
          fill(Values.random, Time.utc(2024, 6, 13, 12))
          super(Book.includes(:author).order(:id).to_a)
          ActiveRecord::Base.connection_pool.disconnect! # no codec needs the database, and processes are forked
        end

        # Compares attributes and what is loaded, too: records are equal that have the same id.
        def same?(copy)
          copy.is_a?(Array) && copy.size == value.size &&
            copy.zip(value).all? do |mine, theirs|
              mine.instance_of?(theirs.class) && mine.attributes == theirs.attributes &&
                mine.association(:author).loaded? && mine.author.attributes == theirs.author.attributes
            end
        end

        private

        def fill(random, now)
          Author.insert_all!(Array.new(Values::AUTHORS) do |i|
            { name: "Author #{i}", created_at: now, updated_at: now }
          end)
          rows = Array.new(Values::BOOKS) do |i|
            { author_id: (i % Values::AUTHORS) + 1, title: "Book #{i}",
              body: Values.letters(random, 520 + (i * 7919 % 81)), pages: 100 + (i % 400), price: (i % 5000) / 100.0,
              in_print: i.even?, created_at: now + i, updated_at: now + i }
          end
          rows.each_slice(200) { |slice| Book.insert_all!(slice) }
        end
      end
    end
  end
end
