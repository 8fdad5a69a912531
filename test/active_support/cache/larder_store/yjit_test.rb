# frozen_string_literal: true

require "support/remote_case"
require "open3"
require "rbconfig"

module LarderStoreTests
  # The compiler of Ruby compiles each method of the store at its second call, when it has seen what is called, in a
  # process of its own.
  class YJITTest < RemoteCase
    PROGRAM = <<~'RUBY'
      require "active_support"
      require "active_support/cache/larder_store"

      ActiveSupport::Cache.format_version = 7.1
      store = ActiveSupport::Cache.lookup_store(:larder_store, ARGV[0], { size: 4 << 20, tags: ["all"] })
      remote = ARGV[1] == "memory" ? :memory_store : [:redis_cache_store, { url: ARGV[1] }]
      two = ActiveSupport::Cache.lookup_store(:larder_store, "#{ARGV[0]}.two", { size: 4 << 20, remote: remote })
      40.times do |number|
        [store, two].each do |cache|
          cache.write("text", "text", expires_in: 60)
          cache.write("list", [1, { "a" => 2.0 }], race_condition_ttl: 5, version: "1")
          cache.write_multi({ "a" => "text", "b" => [number] })
          cache.increment("count", 1, expires_in: 60)
          cache.cache.delete_multi(%w[text list a b])
          found = [cache.read("text"), cache.read("list", version: "1"), cache.read_multi("a", "b", "c"),
                   cache.fetch_multi("a", "d") { |name| name * 2 }, cache.fetch("e", single_flight: true) { 5 }]
          expected = ["text", [1, { "a" => 2.0 }], { "a" => "text", "b" => [number] }, { "a" => "text", "d" => "dd" }, 5]
          expected[0..3] = [nil, nil, {}, { "a" => "aa", "d" => "dd" }] if cache.equal?(store)
          abort "#{found} are not #{expected}" if found != expected
        end
        cache = store.cache
        cache.set("value", "1", ttl: 60)
        cache.cas("value", "1", "2")
        cache.increment("sum", 1, ttl: 60)
        cache.increment("tagged", 1, ttl: 60, tags: ["all"])
        cache.touch("value", ttl: 60)
      end
      print store.cache.get("value"), store.cache.get("sum"), RubyVM::YJIT.enabled?
    RUBY

    # That compiler ends the process if such a method is called with a splat.
    test "no method in C takes more than five arguments, one by one" do
      ours = ObjectSpace.each_object(Module).select { |owner| owner.name&.start_with?("Larder") }
      methods = ours.flat_map do |owner|
        [owner, owner.singleton_class].flat_map do |one|
          names = one.instance_methods(false) + one.private_instance_methods(false)
          names.map { |name| one.instance_method(name) }
        end
      end
      in_c = methods.reject(&:source_location)
      assert_operator in_c.size, :>, 80
      assert_empty(in_c.select { |method| method.arity > 5 })
    end

    test "all calls answer the same, with a second level that is a store of Ruby" do
      assert_equal "240true", run_compiled("memory")
    end

    test "all calls answer the same, with a second level on Redis" do
      assert_equal "240true", run_compiled(start("redis").endpoint["url"])
    end

    private

    def run_compiled(remote)
      skip "this Ruby has no YJIT" unless defined?(RubyVM::YJIT)

      lib = File.expand_path("../../../../lib", __dir__)
      out, err, status = Open3.capture3(RbConfig.ruby, "--yjit", "--yjit-call-threshold=2", "-I", lib, "-e", PROGRAM,
                                        path_of("yjit"), remote)
      assert status.success?, err[0, 2000]
      out
    end
  end
end
