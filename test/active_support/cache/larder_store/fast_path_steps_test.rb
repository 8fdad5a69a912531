# frozen_string_literal: true

# Keys, versions and options of a store whose calls C does not answer: C makes them as Rails does, and Rails makes
# them where one of these methods was patched. Whatever changes a class for good happens in a child.

require "support/store_case"
require "support/fast_path_calls"

module LarderStoreTests
  class FastPathStepsTest < StoreCase
    include FastPathCalls

    Store = ActiveSupport::Cache::Store
    LarderStore = ActiveSupport::Cache::LarderStore
    FastPath = Larder::Store::FastPath
    Record = Struct.new(:cache_key, :cache_version)

    # As a module of Datadog, New Relic or a gem of one's own stands before Rails' class.
    TRACING = Module.new do
      EVERY.each do |name|
        define_method(name) { |*arguments, **named, &block| super(*arguments, **named, &block) }
      end
    end

    # As Datadog's module on Rails 8, which keeps the names of a call in its options.
    KEEPING_NAMES = Module.new do
      def normalize_key(key, options)
        (options[:names] ||= []) << key if options
        super
      end

      def merged_options(call_options)
        super.dup
      end
    end

    OF_RAILS = %i[expanded_key expanded_version namespace_key normalize_options].freeze

    NAMES = [
      "a", :a, 7, nil, "", "ä", "ä".encode("ISO-8859-1"), "\xFF".b, "k" * 400, ["a", :b, 3], [], [[]], [["a", []], []],
      { a: 1, "b" => [2] }, Record.new("users/1", "v1"), [Record.new("users/1", "v1"), "page"],
      [Record.new("users/1", "v1"), [Record.new("posts/2", "v2")]], Record.new("users/1", ""), [Record.new("a", 2)]
    ].freeze
    OPTIONS = [
      nil, {}, { namespace: "n" }, { namespace: -> { :late } }, { namespace: nil }, { version: "5" }, { version: 5 },
      { version: "" }, { version: :v }, { expires_in: 5 }, { expire_in: 5 }, { expired_in: 5 }, { expires_in: 0 },
      { expires_at: nil }, { race_condition_ttl: 2 }, { skip_nil: true }, { unknown: 1 }, { raw: true }
    ].freeze

    setup { store }

    # Which of Rails' methods these calls come to.
    def called_in_rails
      called = []
      trace = TracePoint.new(:call) { |point| called << point.method_id if OF_RAILS.include?(point.method_id) }
      trace.enable { CALLS.each_value { |call| call.call(store) } }
      called.uniq
    end

    def of(store, method, *arguments)
      answer = store.send(method, *arguments)
      answer.is_a?(String) ? [answer, answer.encoding] : answer
    rescue StandardError => e
      [e.class, e.message]
    end

    # Its encoding is left out, as Rails takes it for UTF-8.
    def text_of(...)
      answer = of(...)
      answer.is_a?(Array) && answer.last.is_a?(Encoding) ? answer.first.b : answer
    end

    # What the names and options come to, by their text: options may have a Proc among them.
    def everything(store)
      NAMES.product(OPTIONS).map do |name, given|
        options = given.dup # a patch may change them
        [name, options, of(store, :normalize_key, name, options), of(store, :normalize_version, name, options),
         text_of(store, :expanded_key, name), of(store, :merged_options, options)].inspect
      end
    end

    test "a module before Rails' class leaves them to C" do
      assert_empty(in_child { Store.prepend(TRACING) && called_in_rails })
      assert_empty(in_child { LarderStore.prepend(TRACING) && called_in_rails })
    end

    test "each method that is patched is called, by Rails' own code" do
      OF_RAILS.each do |name|
        called = in_child do
          Store.prepend(TRACING)
          Store.prepend(Module.new { define_method(name) { |*given, **named| super(*given, **named) } })
          called_in_rails
        end
        assert_includes called, name
      end
    end

    test "a module with two of these methods leaves the others to C" do
      called = in_child { Store.prepend(KEEPING_NAMES) && called_in_rails }
      assert_equal %i[namespace_key normalize_options], called.sort
    end

    test "a subclass that overrides one takes Rails', its parent does not" do
      key, parent = in_child do
        Store.prepend(TRACING)
        below = Class.new(LarderStore) do
          private

          def expanded_key(name) = "x-#{super}"
        end
        [below.new(path_of, size: SIZE).send(:normalize_key, "a", nil), called_in_rails]
      end
      assert_equal ["x-a", []], [key, parent]
    end

    test "they are what Rails makes of every name and option" do
      given = [{}, { namespace: "app" }, { namespace: -> { "p" } }, { namespace: :s, expires_in: 9 }]
      given.product([TRACING, KEEPING_NAMES]).each do |options, patch|
        by_c, by_rails = in_child do
          other = LarderStore.new(path_of, size: SIZE, **options)
          Store.prepend(patch)
          FastPath.check
          [everything(other), FastPath.without { everything(other) }]
        end
        by_rails.zip(by_c) { |right, made| assert_equal right, made }
      end
    end

    test "a call under a patch expires, is stale and is replaced as ever" do
      assert_equal [nil, "old", "new", "new"], in_child(&method(:lifetimes))
    end

    def lifetimes
      Store.prepend(TRACING)
      store.write("a", 1, expires_in: 0.01)
      store.write(Record.new("r", "1"), "old", expires_in: 60)
      sleep(0.02)
      [store.read("a"), store.read(Record.new("r", "1")), store.fetch(Record.new("r", "2")) { "new" },
       store.read(Record.new("r", "2"))]
    end
  end
end
