# frozen_string_literal: true

# Two machines with sessions in one store of `cache:`, before real servers.

require "digest"
require "larder/sessions"
require "larder/sessions/backends/store_builder"
require "support/servers"
require "support/solid_cache_application"

# A machine, with a file of its own: its sessions, and the questions about them.
class SessionMachine
  attr_reader :repository, :statistics
  attr_accessor :ahead

  def initialize(**options)
    @ahead = 0
    @repository = Larder::Sessions::Configuration.new(size: 1 << 20, **options).repository
    @repository.instance_variable_set(:@clock, -> { Time.now + @ahead })
    @statistics = Larder::Sessions::Statistics.new(repository)
  end

  def key(name)
    Digest::SHA256.digest(name)
  end

  def begin(name, values)
    repository.begin(key(name), values)
  end

  def find(name)
    repository.find(key(name))
  end

  def values(name)
    find(name)&.values
  end

  def change(found, more)
    repository.commit(found, found.values.merge(more))
  end

  def larder
    repository.backend.instance_variable_get(:@larder)
  end

  def stop
    larder&.instance_variable_get(:@backplane)&.stop
  end
end

# Two machines before each store, with copies on both and without.
module TwoMachines
  STORES = {
    "Redis"       => ->(test) { [:redis_cache_store, { url: test.url_of("redis") }] },
    "memcached"   => ->(test) { [:mem_cache_store, test.url_of("memcached"), { protocol: :meta }] },
    "Solid Cache" => ->(_) { SolidCacheApplication.cache_store },
    "a FileStore" => ->(test) { [:file_store, test.path_of("files")] }
  }.freeze
  PLACES = STORES.keys.product([false, true]).freeze

  # Defines a test for each place.
  module Each
    def before_each_store(name, places = PLACES, &body)
      places.each do |store, copies|
        test("#{name}, in #{store}#{", with copies" if copies}") do
          start(store, copies)
          instance_exec(&body)
        end
      end
    end
  end

  def self.included(test)
    test.extend(Each)
    test.include(TemporaryCaches, Processes)
    test.teardown { @machines&.each(&:stop) }
  end

  def url_of(name)
    (TestServers.endpoint(name) || skip("#{name} is not installed"))["url"]
  end

  private

  def start(store, copies)
    @typed = STORES.fetch(store).call(self)
    ActiveSupport::Cache.lookup_store(*@typed).clear
    @backplane = url_of("redis") if copies
    @here, @there = %w[here there].map { |name| machine(name) }
    return unless copies

    assert(eventually { [@here, @there].all? { |one| one.find("none") || one.larder.cache.trusted? } })
  end

  def machine(name, backplane: @backplane, cache: @typed, **options)
    own = backplane || Larder::Sessions::Backends::StoreBuilder.shared?(cache)
    file = own ? { file: path_of("#{name}.larder") } : {}
    SessionMachine.new(cache: cache, backplane: backplane, **file, **options).tap { |one| (@machines ||= []) << one }
  end

  # A server of the test's own.
  def server_in(name, type = Larder::Lab::Servers.fetch("redis"))
    skip "#{type} is not installed" unless type.path

    FileUtils.mkdir(path_of(name))
    type.new(path_of(name)).tap(&:start)
  end

  def soon(&block)
    assert(eventually(&block))
  end
end
