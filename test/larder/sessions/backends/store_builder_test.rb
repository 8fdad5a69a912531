# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "support/reported_errors"
require "support/servers"
require "larder/sessions"
require "larder/sessions/backends/backed"
require "larder/sessions/backends/store"
require "larder/sessions/backends/store_builder"

module Larder
  module Sessions
    module Backends
      # Somebody else writes Marshal's bytes where sessions are kept; on real stores and servers.
      class StoreBuilderTest < ActiveSupport::TestCase
        include ReportedErrors
        include TemporaryCaches
        include Processes

        # Says so when Marshal makes it.
        class Payload
          class << self
            attr_accessor :made
          end

          def marshal_dump
            "payload"
          end

          def marshal_load(_)
            self.class.made = true
          end
        end

        K = "k" * 32
        NAME = Store.name_of("s/#{K}")
        # name => what is typed, of a test
        STORES = {
          "file store" => ->(test) { [:file_store, test.path_of("files")] },
          "Larder's store" => ->(test) { [:larder_store, test.path_of("cache.larder"), { size: 2 << 20 }] },
          "Redis" => ->(test) { [:redis_cache_store, { url: test.endpoint("redis")["url"] }] },
          "memcached" => ->(test) { [:mem_cache_store, test.endpoint("memcached")["url"], { protocol: :meta }] }
        }.freeze

        setup { Payload.made = false }

        STORES.each do |name, typed|
          { "an entry with an object" => -> { Payload.new }, "bytes" => -> { Marshal.dump(Payload.new) } }
            .each do |what, payload|
            test "#{what} of Marshal's in #{name} runs nothing and is no session" do
              given = typed.call(self)
              write_as_rails(given, payload.call)
              backends(given).each do |backend|
                assert_nil repository(backend).find(K)
                assert_nil repository(backend).record(K)
              end
              refute Payload.made
            end
          end

          test "a session in #{name} that Marshal's bytes have overwritten can be ended, and the next one kept" do
            given = typed.call(self)
            backends(given).each_with_index do |backend, index|
              write_as_rails(given, Payload.new)
              repository = repository(backend)
              repository.end(K)
              assert_nil repository.find(K)
              assert repository.begin("#{index}#{K}", { "a" => "ü" })
              assert_equal({ "a" => "ü" }, repository.find("#{index}#{K}").values)
            end
            refute Payload.made
          end

          test "any bytes come back from #{name}" do
            given = typed.call(self)
            all = (0..255).to_a.pack("C*")
            direct = Direct.new(StoreBuilder.build(:cache, given))
            ["", "\x04\bi\x06", all, "ü"].each do |bytes|
              assert direct.write("bytes", bytes.b, expires_in: 60)
              assert_equal bytes.b, direct.read("bytes"), bytes.inspect
              assert_equal({ "bytes" => bytes.b }, direct.read_multi(%w[bytes none]))
            end
          end
        end

        test "a store that is made already and would ask Marshal is refused, by what can be done" do
          made = { cache: ActiveSupport::Cache::FileStore.new(path_of("files")),
                   backed_by: ActiveSupport::Cache.lookup_store(:mem_cache_store) }
          made.each do |option, store|
            error = assert_raises(InvalidArgument) { StoreBuilder.build(option, store) }
            assert_match(/\A#{option}: a #{store.class} .*reads Marshal.*coder: Larder::Sessions/, error.message)
          end
        end

        test "a store that is made already is refused with any coder but that of sessions" do
          dumping = Module.new { def self.dump(entry) = BytesCoder.dump(entry).reverse }
          [nil, Marshal, dumping].each do |coder|
            store = ActiveSupport::Cache::FileStore.new(path_of("files"), coder: coder)
            assert_raises(InvalidArgument, coder.inspect) { StoreBuilder.build(:cache, store) }
          end
          compressing = ActiveSupport::Cache::FileStore.new(path_of("files"), coder: BytesCoder, compress_threshold: 1)
          assert_instance_of ActiveSupport::Cache::FileStore, StoreBuilder.build(:cache, compressing)
        end

        test "a store that is made already is taken where it asks no Marshal, and raises here alone" do
          memory = ActiveSupport::Cache::MemoryStore.new
          assert_same memory, StoreBuilder.build(:cache, memory)
          files = ActiveSupport::Cache::FileStore.new(path_of("files"), coder: BytesCoder)
          files.write("a", "1")
          FileUtils.mkdir_p(files.send(:normalize_key, "b", {})) # a directory cannot be read
          redis = ActiveSupport::Cache.lookup_store(:redis_cache_store, url: "redis://127.0.0.1:1")
          [files, redis].each do |store|
            assert_nil store.read("b")
            assert_raises(SystemCallError, Redis::BaseError) { StoreBuilder.build(:cache, store).read("b") }
          end
          assert_equal "1", StoreBuilder.build(:cache, files).read("a")
        end

        test "a LarderStore that would answer an error by a miss is refused, by what can be done" do
          { ActiveSupport::Cache.lookup_store(:larder_store, path_of("a.larder"), coder: BytesCoder) =>
              /\Acache: is a LarderStore that is made already, .*name it, as in \[:larder_store, path\]/,
            [:larder_store, path_of("b.larder"), { remote: [:redis_cache_store, { url: "redis://127.0.0.1:1" }] }] =>
              /\Acache: is a LarderStore with remote:, .*give the store of remote: itself/ }.each do |given, message|
            assert_match message, assert_raises(InvalidArgument) { StoreBuilder.build(:cache, given) }.message
          end
        end

        test "connections to a memcached that is named are of this store alone, so nothing is reported of others" do
          given = [:mem_cache_store, "127.0.0.1:1"]
          reports = reported do
            StoreBuilder.shared(:cache, given, path: path_of("copies.larder"), size: 1 << 20, backplane: nil)
            StoreBuilder.adapter(:backed_by, given)
          end
          assert_empty reports
        end

        test "a serializer of the store's is refused, for sessions are bytes" do
          error = assert_raises(InvalidArgument) do
            StoreBuilder.build(:cache, [:memory_store, { serializer: :message_pack }])
          end
          assert_equal "cache: sessions are bytes already: leave out serializer:", error.message
        end

        # Rails autoloads the classes of stores, and each requires the gem of its client.
        test "stores of every class are built where the gems of other stores are missing" do
          %w[redis dalli].each do |gem|
            ::File.write(path_of("#{gem}.rb"), "raise LoadError, 'cannot load such file -- #{gem}'")
          end
          output = run_ruby(<<~RUBY, directory, options: ["-I", directory, "-rbundler/setup"])
            %w[active_support active_support/cache larder/sessions larder/sessions/backends/store_builder]
              .each { |name| require name }
            builder = Larder::Sessions::Backends::StoreBuilder
            coder = Larder::Sessions::Backends::BytesCoder
            one, two = %w[one two].map { |name| File.join(ARGV.first, name) }
            [[:file_store, one], [:larder_store, two, { size: 2 << 20 }],
             ActiveSupport::Cache::FileStore.new(one, coder: coder)].each do |given|
              puts builder.build(:cache, given).class
            end
            begin
              builder.build(:cache, ActiveSupport::Cache::FileStore.new(one))
            rescue Larder::InvalidArgument => error
              puts error.message[/reads Marshal/]
            end
          RUBY
          assert_equal <<~TEXT, output
            ActiveSupport::Cache::FileStore
            ActiveSupport::Cache::LarderStore
            ActiveSupport::Cache::FileStore
            reads Marshal
          TEXT
        end

        public :path_of

        def endpoint(name)
          TestServers.endpoint(name) || skip("#{name} is not installed")
        end

        private

        # As an application's own cache there writes it: where another can write, so can he.
        def write_as_rails(given, value)
          store = ActiveSupport::Cache.lookup_store(*given)
          store.clear
          assert store.write(NAME, value)
        end

        def backends(given)
          file = open_cache("sessions#{rand(1 << 30)}.larder", size: 1 << 20)
          [Store.new(StoreBuilder.build(:cache, given)),
           Backed.new(file, StoreBuilder.adapter(:backed_by, given))]
        end

        def repository(backend)
          Repository.new(backend: backend, format: Format::Json)
        end
      end
    end
  end
end
