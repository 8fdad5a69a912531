# frozen_string_literal: true

# Runs the guarded calls of the Rails store and of sessions under callgrind and prints how many objects each allocates.
# The counts of instructions are in what callgrind dumps. Started by instruction_counts.rb: ruby operations.rb METER
# DIRECTORY

require "active_support"
require "active_support/cache"
require "active_support/cache/larder_store"
require "active_record"
require "digest"
require "json"
require "larder/sessions"
require "larder/sessions/backends/file"
require ARGV.fetch(0)

abort "operations.rb: runs under valgrind only" unless Meter.running?

CALLS = 5_000
VALUE = "Hello World!"
ROW = { "id" => 1234, "name" => "Pear", "price" => 1.5, "stock" => 17, "colour" => "green", "weight" => 180.25,
        "origin" => "South Tyrol", "organic" => true, "note" => nil, "category" => "fruit" }.freeze

ActiveSupport::Cache.format_version = 7.1
ActiveRecord::Marshalling.format_version = 7.1
store = ActiveSupport::Cache.lookup_store(:larder_store, File.join(ARGV.fetch(1), "guard.larder"), { size: 64 << 20 })

# In a minute that does not end, as a use is written once in each.
sessions = Larder::Sessions::Repository.new(
  backend: Larder::Sessions::Backends::File.new(Larder::Cache.open(File.join(ARGV.fetch(1), "sessions.larder"))),
  format: Larder::Sessions::Format.fetch(:json), lifetimes: Larder::Sessions::Lifetimes.new(idle: 1_209_600),
  clock: -> { 1_800_000_000 }
)
IDS = Array.new(1_000) { |number| Digest::SHA256.digest(number.to_s) }
IDS.each_with_index do |id, number|
  sessions.begin(id, { "user_id" => number, "name" => VALUE, "_csrf_token" => "a" * 43, "seen" => 0 })
end

# A record as keys see it, and one with a version. Records are names in the Hash that a multi call returns. Their hash
# has that of their class, which is its address unless it is fixed: counts would differ from checkout to checkout.
Item = Struct.new(:id) do
  def self.hash = 1
  def cache_key = "items/#{id}"
end
Product = Struct.new(:id) do
  def self.hash = 2
  def cache_key = "products/#{id}"
  def cache_version = "20261123120000123456"
end
ITEMS = Array.new(CALLS) { |id| Item.new(id) }.freeze
PRODUCTS = Array.new(CALLS) { |id| Product.new(id) }.freeze
FRAGMENT = ("<li class=\"product\">A teapot of 1.2 litres</li>\n" * 42).freeze # 2 KB
PAGE = FRAGMENT * 10
TAGS = ["products/1"].freeze
LISTENER = ->(*) {}

# Records as a database gives them.
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:authors) { |table| table.string :name }
  create_table(:books) do |table|
    table.references :author
    table.string :title
    table.decimal :price, precision: 8, scale: 2
    table.timestamps
  end
end
class Author < ActiveRecord::Base; end

class Book < ActiveRecord::Base
  belongs_to :author
end
25.times { |i| Book.create!(author: Author.create!(name: "Author #{i}"), title: "Book #{i}", price: i + 0.5) }
BOOKS = Book.includes(:author).order(:id).to_a.freeze
BOOK = Book.find(1)

# The store as an APM leaves it, whose methods stand before Rails': its calls take the ordinary path.
class Watched < ActiveSupport::Cache::LarderStore
  def fetch(*arguments, **options, &block) = block_given? ? super : raise(ArgumentError, "no block")
end
watched = Watched.new(File.join(ARGV.fetch(1), "guard.larder"), size: 64 << 20)

# Each call counts for `objects`.
def reads(store, name, value, objects)
  lambda do |count|
    store.write(name, value)
    i = 0
    while i < count
      store.read(name) || raise("a miss")
      i += objects
    end
  end
end

def writes(store, name, value, objects)
  lambda do |count|
    i = 0
    while i < count
      store.write(name, value) || raise("refused")
      i += objects
    end
  end
end

misses = 0

OPERATIONS = {
  "fetch, hit" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["key", i % CALLS], expires_in: 300) { raise "a miss" }
      i += 1
    end
  end,
  "read, hit" => lambda do |count|
    i = 0
    while i < count
      store.read(["key", i % CALLS]) || raise("a miss")
      i += 1
    end
  end,
  "write" => lambda do |count|
    i = 0
    while i < count
      store.write(["key", i % CALLS], VALUE, expires_in: 300) || raise("refused")
      i += 1
    end
  end,
  "write of a Hash of ten" => lambda do |count|
    i = 0
    while i < count
      store.write(["row", i % CALLS], ROW, expires_in: 300) || raise("refused")
      i += 1
    end
  end,
  "fetch, hit of a Hash of ten" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["row", i % CALLS], expires_in: 300) { raise "a miss" }
      i += 1
    end
  end,
  "fetch, hit, a record for a key" => lambda do |count|
    i = 0
    while i < count
      store.fetch(ITEMS[i % CALLS]) { VALUE }
      i += 1
    end
  end,
  "read, a fragment of a record with a version" => lambda do |count|
    i = 0
    while i < count
      name = [:views, "products/_product:3f2a", PRODUCTS[i % CALLS]]
      store.read(name) || store.write(name, FRAGMENT)
      i += 1
    end
  end,
  "write, a fragment of a record with a version" => lambda do |count|
    i = 0
    while i < count
      store.write([:views, "products/_product:3f2a", PRODUCTS[i % CALLS]], FRAGMENT) || raise("refused")
      i += 1
    end
  end,
  "read_multi, a fragment of 50" => lambda do |count|
    i = 0
    while i < count
      names = PRODUCTS[i % CALLS, 50].map { |product| [:views, "products/_product:3f2a", product] }
      store.read_multi(*names).size == 50 || raise("a miss")
      i += 50
    end
  end,
  "fetch_multi, a hit of 50 records in keys" => lambda do |count|
    i = 0
    while i < count
      store.fetch_multi(*ITEMS[i % CALLS, 50]) { VALUE }.size == 50 || raise("a miss")
      i += 50
    end
  end,
  "read, 20 KB" => reads(store, "page", PAGE, 1),
  "write, 20 KB" => writes(store, "page", PAGE, 1),
  "read, a record" => reads(store, "book", BOOK, 1),
  "read, one of 25 records with an association" => reads(store, "books", BOOKS, BOOKS.size),
  "write, one of 25 records with an association" => writes(store, "books", BOOKS, BOOKS.size),
  "fetch, hit, namespace:, race_condition_ttl:, raw:" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["key", i % CALLS], namespace: "n", race_condition_ttl: 5, raw: true) { VALUE }
      i += 1
    end
  end,
  "fetch, hit, single_flight:" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["key", i % CALLS], expires_in: 300, single_flight: true) { VALUE }
      i += 1
    end
  end,
  "fetch, hit, a tag: given and of the entry" => lambda do |count|
    store.fetch("tagged", expires_in: 300, tags: TAGS) { VALUE }
    count.times { store.fetch("tagged", expires_in: 300, tags: TAGS) { VALUE } }
  end,
  "fetch, hit, on the ordinary path" => lambda do |count|
    i = 0
    while i < count
      watched.fetch(["key", i % CALLS], expires_in: 300) { raise "a miss" }
      i += 1
    end
  end,
  "fetch, hit, version: given" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["versioned", i % CALLS], version: "7") { VALUE }
      i += 1
    end
  end,
  "fetch, miss with a block" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["missing", misses += 1], expires_in: 300) { VALUE }
      i += 1
    end
  end,
  "fetch, hit, a listener to every event" => lambda do |count|
    ActiveSupport::Notifications.subscribed(LISTENER, /\Acache_.*\.active_support\z/) do
      i = 0
      while i < count
        store.fetch(["key", i % CALLS]) { raise "a miss" }
        i += 1
      end
    end
  end,
  "session, read and left as it is" => lambda do |count|
    i = 0
    while i < count
      found = sessions.find(IDS[i % IDS.size]) || raise("no session")
      sessions.commit(found, found.values) || raise("lost")
      i += 1
    end
  end
}.freeze

# A collection now and then would fall into one run and not into another, so there is none during a run. Allocation
# counts, marking does not. The fast path's check of each second is not among them, as the clock stands still (fixed.c).
def measured(name)
  GC.start
  GC.disable
  Meter.start
  yield
  Meter.stop(name)
ensure
  GC.enable
end

def allocations
  GC.disable
  before = GC.stat(:total_allocated_objects)
  yield
  GC.stat(:total_allocated_objects) - before
ensure
  GC.enable
end

OPERATIONS.fetch("write").call(CALLS)
objects = OPERATIONS.to_h do |name, operation|
  3.times { operation.call(CALLS) } # until frequencies and inline caches are full
  # What 2n calls take more than n is free of what a loop takes by itself.
  measured("#{name}: n") { operation.call(CALLS) }
  measured("#{name}: 2n") { operation.call(2 * CALLS) }
  few = allocations { operation.call(CALLS) }
  [name, (allocations { operation.call(2 * CALLS) } - few).fdiv(CALLS)]
end
puts JSON.generate({ calls: CALLS, objects: objects })
