# frozen_string_literal: true

require "support/store_case"
require "open3"
require "rbconfig"

module LarderStoreTests
  # A recursion without an end, that calls the cache at each level, in threads and fibers of a process of its own.
  class StackTest < StoreCase
    # Seconds; without an error the process stands still. It takes 3 s of a quiet processor.
    LIMIT = 600
    # Ways to reach the end of the stack: by frames of C and by those of Ruby alone, from different places.
    PROGRAM = <<~'RUBY'
      require "active_support"
      require "active_support/cache/larder_store"

      store = ActiveSupport::Cache.lookup_store(:larder_store, ARGV[0], { size: 4 << 20 })
      cache = store.cache
      hash = (0..30).to_h { |i| ["k#{i}", [i, { "a" => Time.at(i).utc }]] }
      store.write_multi({ "hash" => hash, "text" => "é" * 1000 })
      CALLS = { read: -> { store.read("hash") }, text: -> { store.read("text") },
                many: -> { store.read_multi("hash", "text", "none") },
                fetch_many: -> { store.fetch_multi("hash", "text") { raise } }, write: -> { store.write("new", hash) },
                write_many: -> { store.write_multi("a" => hash, "b" => 1) }, get: -> { cache.get("hash") },
                get_many: -> { cache.get_multi(%w[hash text]) }, set: -> { cache.set("bytes", "x" * 1000) },
                delete: -> { store.delete("new") } }
      ended = 0
      CALLS.each_value do |call|
        10.times do |number|
          in_ruby = ->(level) { call.call; in_ruby.(level + 1) }
          in_c = ->(level) { call.call; [2, 1].sort_by { in_c.(level + 1) } }
          from = ->(left, todo) { left.zero? ? todo.(0) : [1].each { from.(left - 1, todo) } }
          [in_ruby, in_c].each do |todo|
            work = lambda do
              from.(number, todo)
            rescue SystemStackError
              ended += 1
            end
            Thread.new(&work).join
            Fiber.new(&work).resume
          end
        end
      end
      print ended, " of ", CALLS.size * 10 * 2 * 2, store.read("text") == "é" * 1000
    RUBY

    # Stores in a full file by a process that has just opened it: eviction moves long values. Each thread goes as deep
    # as there is room for, but for some levels, and stores there.
    EVICTION = <<~'RUBY'
      require "larder"

      open_full = -> { Larder::Cache.open(ARGV[0], size: 16 << 20, lock_timeout: 0.01) }
      open_full.call.tap { |cache| 4000.times { |i| cache.set("old#{i}", "x" * 11_000) } }.close
      cache = open_full.call
      4000.times { |i| 3.times { cache.get("old#{i}") } }
      deepest = 0
      measure = ->(level) { [2, 1].sort_by { measure.(deepest = level + 1) } }
      down = lambda do |left, todo|
        next todo.call if left.zero?

        done = false
        [2, 1].sort_by { (done ||= down.(left - 1, todo)) && 1 }
      end
      in_thread = lambda do |todo|
        Thread.new do
          todo.call
        rescue SystemStackError
          nil
        end.join
      end
      in_thread.(-> { measure.(0) })
      200.times { |i| in_thread.(-> { down.(deepest - 1 - i, -> { cache.set("new#{i}", "x" * 4000) || true }) }) }
      print cache.stats[:promotions].positive?, 100.times.count { |i| !cache.set("after#{i}", "x") }, " refused"
    RUBY

    def run_deep(program)
      lib = File.expand_path("../../../../lib", __dir__)
      out, err, status = Open3.capture3("timeout", "-s", "KILL", LIMIT.to_s, RbConfig.ruby, "-I", lib, "-e", program,
                                        path_of("stack"))
      assert status.success?, "#{status.inspect} #{out} #{err[0, 2000]}"
      out
    end

    test "ends by SystemStackError, and the process goes on" do
      assert_equal "400 of 400true", run_deep(PROGRAM)
    end

    test "leaves no lock taken where eviction moves long values" do
      assert_equal "true0 refused", run_deep(EVICTION)
    end
  end
end
