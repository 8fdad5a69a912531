# frozen_string_literal: true

require "active_support/cache/larder_store"

# Counts the Ruby methods that one call of the store enters, of Larder and of ActiveSupport::Cache.
module Paths
  ROOT = File.expand_path("../../lib/larder", __dir__)
  OPTIONS = { expires_in: 300 }.freeze

  class << self
    # @param directory [String]
    # @return [Hash{String=>Array(Integer, Integer, Integer)}] methods, own files, and changes of file from one method
    #   to the next, by the name of a call
    def measure(directory)
      one = store(directory, "one")
      { "hit in C" => count { one.fetch("warm", **OPTIONS) { 1 } }, **ordinary(one), **two_levels(directory) }
    end

    private

    def ordinary(store)
      Larder::Store::FastPath.without do
        { "ordinary hit" => count { store.fetch("warm", **OPTIONS) { 1 } },
          "ordinary miss and write" => count { store.fetch("new", **OPTIONS) { 1 } },
          "ordinary delete" => count { store.delete("new") } }
      end
    end

    # Methods of FileStore count, too: 36 of those of a miss and its write.
    def two_levels(directory)
      two = store(directory, "two", remote: [:file_store, File.join(directory, "far")])
      flights = store(directory, "three", remote: [:file_store, File.join(directory, "far3")], single_flight: true)
      { "two levels: hit in C" => count { two.fetch("warm", **OPTIONS) { 1 } },
        "two levels: read of nothing" => count { two.read("none") },
        "two levels: miss and write" => count { two.fetch("new", **OPTIONS) { 1 } },
        "two levels: miss with single flight" => count { flights.fetch("new", **OPTIONS) { 1 } },
        "two levels: write" => count { two.write("newer", 1, **OPTIONS) },
        "two levels: delete" => count { two.delete("newer") },
        "two levels: fetch_multi, 5 of 100 in the remote store" => count_missing(two) }
    end

    def count_missing(store)
      keys = Array.new(100) { |number| "many#{number}" }
      # The journal notes a write that takes long, as one of many files may.
      keys.each_slice(5) { |some| store.write_multi(some.to_h { |key| [key, "value"] }) }
      measured = Array.new(2) do
        store.level.local.delete_many(keys.last(5))
        count { store.fetch_multi(*keys) { 1 } }
      end
      measured.last # the first call of a process is longer
    end

    def store(directory, name, **options)
      path = File.join(directory, "#{name}.larder")
      made = ActiveSupport::Cache::LarderStore.new(path, size: 8 << 20, **options)
      2.times { made.write("warm", 1) && made.fetch("other", **OPTIONS) { 1 } }
      made
    end

    def count(&block)
      files = []
      TracePoint.new(:call) { |point| files << point.path if counts?(point.path) }.enable(&block)
      own = files.uniq.count { |file| file.start_with?(ROOT) }
      [files.size, own, files.each_cons(2).count { |one, other| one != other }]
    end

    def counts?(path)
      path.start_with?(ROOT) || path.include?("active_support/cache")
    end
  end
end
