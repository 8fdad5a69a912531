# frozen_string_literal: true

# Generated calls of a store with `remote:`, and of the remote store alone, have the same answers. Over a real Redis.

require "support/remote_case"
require "redis"

module LarderStore
  # `LARDER_SEED=5 LARDER_SEQUENCES=100` generates others, and more.
  class RemoteGeneratedTest < RemoteCase
    SEQUENCES = Integer(ENV["LARDER_SEQUENCES"] || 8)
    SEED = Integer(ENV["LARDER_SEED"] || 1)
    CALLS = 80
    # Seconds after which what was to live for a moment has expired in both stores.
    MOMENT = 0.01
    Product = Struct.new(:cache_key, :cache_version)
    Money = Struct.new(:cents)

    NAMES = ["a", "b", :a, 1, ["a", 1], "ü", "long" * 90, Product.new("p", "v1"), Product.new("p", "v2")].freeze
    VALUES = [1, 0, "text", "5", "", nil, false, [1, nil], { a: 1 }, Money.new(5), Time.at(1), "x" * 3000].freeze
    # What is raw has names of its own: the bytes of an entry depend on the coder.
    RAW = ["text", "5", 7, "ü", ""].freeze
    RAW_NAMES = %w[count ar].freeze
    NAMESPACES = [nil, "n", "app", -> { "called" }].freeze
    OPTIONS = { namespace: NAMESPACES, version: [nil, "v1", "v2"], skip_nil: [true, false], expires_in: [60, MOMENT],
                race_condition_ttl: [5], compress: [true, false], unless_exist: [true], force: [true] }.freeze
    # Options that a method takes.
    TAKEN = { read: %i[namespace version], exist?: %i[namespace version], delete: %i[namespace],
              read_multi: %i[namespace], delete_multi: %i[namespace], increment: %i[namespace expires_in],
              decrement: %i[namespace expires_in], clear: %i[namespace], delete_matched: %i[namespace] }.freeze
    WRITTEN = %i[namespace version skip_nil expires_in race_condition_ttl compress].freeze
    METHODS = [*TAKEN.keys, :write, :write, :fetch, :fetch, :write_multi, :fetch_multi, :raw_write, :raw_fetch,
               :raw_read].freeze
    # Their answers are whatever a store has at hand.
    UNTOLD = %i[clear delete_matched write_multi].freeze

    setup do
      @server = start_once("redis")
      [0, 1].each { |number| Redis.new(url: url, db: number).flushdb }
    end

    [{}, { namespace: "app" }, { namespace: -> { "app" } }, { expires_in: 60, race_condition_ttl: 5 },
     { skip_nil: true }].each do |options|
      test "with #{options} on the remote store" do
        SEQUENCES.times { |number| compare(Random.new(SEED + number), options) }
      end
    end

    private

    def url
      @server.endpoint.fetch("url")
    end

    def remote(number, options)
      [:redis_cache_store, { url: url, db: number, **options }]
    end

    # Two machines, of which the second one has no copies.
    def compare(random, options)
      alone = ActiveSupport::Cache.lookup_store(remote(0, options))
      near, far = %w[near far].map { |name| machine("#{name}#{random.seed}", remote: remote(1, options)) }
      calls = []
      CALLS.times do
        calls << (call = generated(random, options))
        far.cache.clear
        store = random.rand(3).zero? ? far : near
        near.cache.clear if store == far # it has not heard of what the other one is about to do
        assert_equal [answer(alone, call)], [answer(store, call)],
                     "seed #{random.seed}, options #{options}: #{calls.last(8).map(&:inspect).join("\n")}"
        sleep(2 * MOMENT) if call.last[:expires_in] == MOMENT
      end
    end

    # @return [Array] a method, its arguments, and options
    def generated(random, of_store)
      method = METHODS.sample(random: random)
      names = (method.start_with?("raw") ? RAW_NAMES : NAMES).sample(1 + random.rand(3), random: random)
      options = options_of(method, random)
      options.delete(:expires_in) if of_store[:race_condition_ttl] # for the same reason as in options_of
      [method, arguments_of(method, names, random), options]
    end

    def arguments_of(method, names, random)
      values = method.start_with?("raw") ? RAW : VALUES
      case method
      when :write, :fetch, :raw_write, :raw_fetch then [names.first, values.sample(random: random)]
      when :write_multi then [names.to_h { |name| [name, VALUES.sample(random: random)] }]
      when :fetch_multi then [names, VALUES.sample(random: random)]
      when :delete_multi, :read_multi then [names]
      when :increment, :decrement then ["count", 1 + random.rand(3)]
      when :clear then []
      when :delete_matched then [%w[a* p* long* n*].sample(random: random)]
      else [names.first]
      end
    end

    def options_of(method, random)
      taken = TAKEN[method] || (method == :raw_read ? %i[namespace] : WRITTEN)
      taken += %i[unless_exist] if method == :raw_write
      taken += %i[force] if %i[fetch raw_fetch].include?(method)
      chosen = taken.sample(random.rand(4), random: random)
      options = chosen.to_h { |name| [name, OPTIONS.fetch(name).sample(random: random)] }
      # What has expired and is kept for race_condition_ttl is deleted by a read of the store alone.
      options[:expires_in] == MOMENT ? options.except(:race_condition_ttl) : options
    end

    # @return [Object] what the caller sees; an error by its class
    def answer(store, call)
      method, arguments, options = call
      options = options.merge(raw: true) if method.start_with?("raw")
      answer = called(store, method.to_s.delete_prefix("raw_").to_sym, arguments, options)
      UNTOLD.include?(method) ? nil : answer
    rescue StandardError => e
      e.class
    end

    def called(store, method, arguments, options)
      case method
      when :fetch then store.fetch(arguments[0], **options) { arguments[1] }
      when :fetch_multi then store.fetch_multi(*arguments[0], **options) { |name| [name.to_s.size, arguments[1]] }
      when :read_multi then store.read_multi(*arguments[0], **options)
      when :delete_multi then store.delete_multi(arguments[0].dup, **options) # which Rails changes
      else store.public_send(method, *arguments, **options)
      end
    end
  end
end
