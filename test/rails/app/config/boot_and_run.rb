# frozen_string_literal: true

# Boots the application, runs the script in ARGV[0] with some helpers, and prints what it returns as JSON.

require_relative "application"
require "json"
require "rack/mock"
require "active_support/testing/time_helpers"

Shop.initialize!

ActiveRecord::Schema.verbose = false
unless ActiveRecord::Base.connection.table_exists?(:categories)
  ActiveRecord::Schema.define do
    create_table(:categories) { |t| t.string(:name) && t.timestamps }
    create_table(:products) { |t| t.string(:name) && t.references(:category) && t.timestamps }
  end
end

# What scripts call.
module ScriptHelpers
  include ActiveSupport::Testing::TimeHelpers

  # @return [Array(Integer, String)] status and body
  def get(path)
    response = Rack::MockRequest.new(Rails.application).get(path)
    [response.status, response.body.squish]
  end

  # @return [Array<String>] what the views rendered during the block, because it was not in the cache
  def rendered
    RenderedHelper.rendered.clear
    yield
    RenderedHelper.rendered.dup
  end

  # @return [Array<String>] short names of the cache's notifications during the block
  def announced(&block)
    names = []
    callback = ->(name, *) { names << name[/\Acache_(.*)\.active_support\z/, 1] }
    ActiveSupport::Notifications.subscribed(callback, /\Acache_.*\.active_support\z/, &block)
    names
  end

  def make_shop
    toys = Category.create!(name: "Toys")
    books = Category.create!(name: "Books")
    %w[Ball Kite].each { |name| toys.products.create!(name: name) }
    books.products.create!(name: "Emma")
    [toys, books]
  end
end

include ScriptHelpers # rubocop:disable Style/MixinUsage -- scripts read like a console

puts JSON.generate(eval(ARGV.fetch(0), binding, "script")) # rubocop:disable Security/Eval -- a test's own script
