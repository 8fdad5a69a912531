# frozen_string_literal: true

# Holds the records of a shop: Active Record objects in a SQLite database in memory. Loaded in worker processes,
# or before they are forked.

require_relative "../../errors"

begin
  gem "activerecord"
  gem "sqlite3"
rescue Gem::LoadError => error
  raise Larder::Lab::Unavailable, "its Gemfile has no #{error.name}"
end

require "active_record"
require_relative "../shop"

module Larder
  module Lab
    module Suites
      module Shop
        # A database of its own, because a contender may keep its entries with Active Record.
        class Record < ActiveRecord::Base
          self.abstract_class = true
          begin
            establish_connection(adapter: "sqlite3", database: ":memory:", timeout: 1000)
          rescue LoadError => error # from Rails 8 on the adapter refuses the sqlite3 that Litecache needs
            raise Unavailable, "the records of this suite are in SQLite: #{error.message}"
          end
          ActiveRecord::Marshalling.format_version = 7.1 # as new applications have it
        end

        # Makes products.
        class Maker < Record
        end

        # A product of the shop. Its keys are those of an application's model: "products/1-20261123123000000000".
        class Product < Record
          def self.model_name = @model_name ||= ActiveModel::Name.new(self, nil, "Product")

          belongs_to :maker, class_name: "Larder::Lab::Suites::Shop::Maker"
        end

        # The records, as an application has loaded them.
        module Catalog
          SIZE = 200
          NOW = Time.utc(2026, 11, 23, 12, 30)

          module_function

          # Products with these descriptions, each loaded with one of so many makers, from a new database.
          def make(count, makers, &description)
            create_tables(Record.connection)
            Maker.insert_all(Array.new(makers) { |i| { name: "Maker #{i}", created_at: NOW, updated_at: NOW + i } })
            rows = Array.new(count) do |i|
              { maker_id: (i % makers) + 1, name: "Product #{i}", description: description.call(i), stock: i,
                price: i + 0.5, available: i.even?, created_at: NOW, updated_at: NOW + i }
            end
            rows.each_slice(SIZE) { |some| Product.insert_all(some) }
            Product.includes(:maker).order(:id).to_a.freeze
          ensure
            Record.connection_pool.disconnect! # no call needs the database, and processes are forked after this
          end

          def create_tables(connection)
            connection.create_table(:makers) do |table|
              table.string :name
              table.timestamps
            end
            connection.create_table(:products) do |table|
              table.references :maker
              table.string :name
              table.text :description
              table.integer :stock
              table.decimal :price, precision: 8, scale: 2
              table.boolean :available
              table.timestamps
            end
          end
          private_class_method :create_tables

          # @return [Array<Product>] loaded, each with its maker
          PRODUCTS = make(SIZE, SIZE) { |i| Text.html(i, 300) }
          # @return [Array<String>] HTML of each product, 2 KB, each with its own bytes
          HTML = PRODUCTS.map { |product| Text.html(product.id, 2048).freeze }.freeze
        end
      end
    end
  end
end
