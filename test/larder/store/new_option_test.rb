# frozen_string_literal: true

require "json"
require "open3"
require "support/store_case"

module Larder
  module Store
    # A new option is one row of the table: the constructor, calls, the names that are proposed, C and the document then
    # know it. A child loads a table with one more row.
    class NewOptionTest < StoreCase
      ROOT = File.expand_path("../../..", __dir__)
      TABLE = "larder/store/options/table.rb"
      ROW = 'row(:mood, BOTH, SWITCH, "what the entry feels like", default: false, traits: %i[larder], ' \
            "synonyms: %i[humour]),\n"

      PROGRAM = <<~RUBY
        $LOAD_PATH.unshift(ARGV[0])
        require "json"
        require "stringio"
        require "active_support"
        require "active_support/logger"
        require "active_support/cache/larder_store"
        require "rakelib/house/options_page"
        ActiveSupport::Cache.format_version = 7.1

        def error
          yield
        rescue ArgumentError => e
          e.message
        end

        def logged
          io = StringIO.new
          ActiveSupport::Cache::Store.logger = ActiveSupport::Logger.new(io, level: :warn)
          yield
          io.string
        ensure
          ActiveSupport::Cache::Store.logger = nil
        end

        def in_c?
          entered = false
          method = ActiveSupport::Cache::LarderStore.instance_method(:fetch).super_method
          TracePoint.new(:call) { entered = true }.enable(target: method) { yield }
          !entered
        end

        # Notes the options that it is given.
        class Far < ActiveSupport::Cache::MemoryStore
          attr_reader :given

          def increment(name, amount = 1, **options)
            @given = options
            super
          end
        end

        make = ->(**options) { ActiveSupport::Cache::LarderStore.new(ARGV[1], size: 8 << 20, **options) }
        store = make.call
        moody = make.call(mood: true)
        moody.write("a", 1)
        far = Far.new
        make.call(remote: far, remote_id: "far").increment("b", 1, mood: true, noted: true)
        print JSON.generate(
          constructor: error { make.call(mood: "bad") }, call: error { store.read("a", mood: "bad") },
          quiet: logged { make.call(mood: true) && store.read("a", mood: true) },
          resembling: logged { store.read("a", moood: 1) }, synonym: logged { store.read("a", humour: 1) },
          c: [in_c? { store.fetch("a") { 2 } }, in_c? { store.fetch("a", mood: true) { 2 } },
              in_c? { moody.fetch("a") { 2 } }],
          answer: store.read("a", mood: true), of_remote: far.given.slice(:mood, :noted),
          page: House::OptionsPage.new.text.lines.grep(/mood/)
        )
      RUBY

      def with_row
        rows = File.read(File.join(ROOT, "lib", TABLE))
        path = path_of("lib/#{TABLE}")
        FileUtils.mkdir_p(File.dirname(path))
        File.write(path, rows.sub("row(:raw,") { "#{ROW}row(:raw," })
        path_of("lib")
      end

      test "one row of the table is a new option" do
        output, status = Open3.capture2(RbConfig.ruby, "-W0", "-I#{ROOT}/lib", "-I#{ROOT}", "-rbundler/setup", "-",
                                        with_row, path_of("new.larder"), stdin_data: PROGRAM)
        assert_predicate status, :success?
        found = JSON.parse(output, symbolize_names: true)
        refusal = ':mood of LarderStore is "bad"; it takes true or false'
        assert_equal [refusal, refusal, ""], found.values_at(:constructor, :call, :quiet)
        found.values_at(:resembling, :synonym).each { |line| assert_includes line, "did you mean :mood?" }
        assert_equal [[true, false, false], 1, { noted: true }], found.values_at(:c, :answer, :of_remote)
        assert_equal ["| `mood:` | true, false | false | what the entry feels like |\n"], found.fetch(:page)
      end

      test "without the row it is an option like any other that is unknown" do
        assert_not_includes Options.names(:call), :mood
        assert_nothing_raised { store.read("a", mood: "bad") }
      end

      test "C refuses a kind of options that it does not know" do
        error = assert_raises(ArgumentError) { FastPath.send(:_options, [%i[mood happy]]) }
        assert_equal "C knows no kind :happy of options", error.message
      ensure
        FastPath.send(:_options, Options.for_calls_in_c)
      end
    end
  end
end
