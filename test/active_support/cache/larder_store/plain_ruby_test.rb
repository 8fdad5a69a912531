# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # Without Rails: a script, and a Rack application. Each runs in a Ruby of its own.
  class PlainRubyTest < StoreCase
    test "a script needs one require" do
      output = run_ruby(<<~RUBY, path_of)
        require "active_support/cache/larder_store"
        cache = ActiveSupport::Cache::LarderStore.new(ARGV[0], size: 8 << 20, namespace: "s")
        cache.fetch("answer", expires_in: 60) { 42 }
        print cache.read("answer"), " ", cache.increment("n"), " ", defined?(Rails).inspect
      RUBY
      assert_equal "42 1 nil", output.lines.last
      assert_equal 42, store.read("answer", namespace: "s")
    end

    test "lookup_store finds it by its symbol" do
      output = run_ruby(<<~RUBY, path_of)
        require "active_support"
        require "active_support/cache"
        cache = ActiveSupport::Cache.lookup_store(:larder_store, ARGV[0], { size: 8 << 20 })
        print cache.class, " ", cache.write("key", 1)
      RUBY
      assert_equal "ActiveSupport::Cache::LarderStore true", output.lines.last
    end

    test "without a path the file is below the current directory" do
      output = Dir.chdir(directory) do
        run_ruby(<<~RUBY)
          require "active_support/cache/larder_store"
          cache = ActiveSupport::Cache::LarderStore.new(size: 8 << 20)
          cache.write("key", 1)
          print cache.cache.path
        RUBY
      end
      assert_equal path_of("storage/larder/development/cache.larder"), output.lines.last
      assert_path_exists path_of("storage/larder/development/cache.larder")
      assert_equal 0o700, File.stat(path_of("storage/larder/development")).mode & 0o777
    end

    test "options may be a Hash or keywords, and the path a Pathname" do
      path = path_of("a.larder")
      [
        -> { ActiveSupport::Cache::LarderStore.new(path, { size: SIZE, namespace: "n" }) },
        -> { ActiveSupport::Cache::LarderStore.new(path, size: SIZE, namespace: "n") },
        -> { ActiveSupport::Cache::LarderStore.new(Pathname.new(path), size: SIZE, namespace: "n") },
        -> { ActiveSupport::Cache.lookup_store([:larder_store, path, { size: SIZE, namespace: "n" }]) }
      ].each do |make|
        cache = make.call
        assert_equal [path, SIZE, "n"], [cache.cache.path, cache.cache.size, cache.options[:namespace]]
      end
    end

    test "a size in gigabytes may be a Float that is whole" do
      assert_equal 12 << 20, new_store("b.larder", size: (0.0117187500 * (1 << 30))).cache.size
    end

    test "a Rack application that forks workers shares it" do
      output = run_ruby(<<~RUBY, path_of)
        require "active_support/cache/larder_store"
        CACHE = ActiveSupport::Cache::LarderStore.new(ARGV[0], size: 8 << 20)
        app = lambda do |env|
          body = CACHE.fetch(env["PATH_INFO"]) { "page " + env["PATH_INFO"] + " of " + CACHE.increment("made").to_s }
          [200, {}, [body]]
        end
        bodies = 3.times.map do
          reader, writer = IO.pipe
          pid = fork { writer.write(app.call("PATH_INFO" => "/a")[2][0]); exit!(0) }
          writer.close
          Process.wait(pid)
          reader.read
        end
        print bodies.uniq.inspect
      RUBY
      assert_equal ["page /a of 1"].inspect, output.lines.last
    end
  end
end
