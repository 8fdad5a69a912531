# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    # Promises of all commands, whatever they measure.
    class CommandsTest < ActiveSupport::TestCase
      # CLI::Program is tested with the command `larder`.
      test "the commands are listed, the version is shown, and an unknown command is refused with the known ones" do
        list, version, refused = [[], ["--version"], ["bogus"]].map { |arguments| lab(*arguments) }
        assert_equal 0, list.status
        assert_match(/^  stores +\S/, list.out)
        assert_equal "larder-lab #{VERSION}\n", version.out
        assert_equal [2, ""], [refused.status, refused.out]
        assert_match(/unknown command bogus; known: overview, advise/, refused.err)
      end

      slow_test "help and lists need no gems" do
        alone = { "RUBYOPT" => nil, "RUBYLIB" => nil, "GEM_PATH" => "", "GEM_HOME" => "", "BUNDLE_GEMFILE" => nil }
        ask = lambda do |*arguments|
          out, errors, status = Open3.capture3(alone, RbConfig.ruby, LabHelper::EXECUTABLE, *arguments)
          assert_predicate status, :success?, errors
          refute_empty out
          out
        end
        ask.call
        Commands.names.each { |name| ask.call(name, "--list") if ask.call(name, "--help").include?("--list") }
      end

      test "the help of each fits a terminal, and says how it is called and what its exit codes mean" do
        Commands.names.each do |name|
          help = here(name, "--help")
          assert_equal 0, help.status, name
          assert help.out.start_with?("Usage: larder-lab #{name}"), name
          assert_includes help.out, "Exit codes: 0 ", name
          assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
          assert_operator help.out.lines.size, :<=, name == "advise" ? 60 : 50, name
        end
      end

      test "the help of rows that take no turns does not speak of turns, and has their own number of sessions" do
        assert_match(/all take turns of 20 ms.*processes \(6, or 5/m, here("stores", "--help").out)
        help = here("scaling", "--help").out
        assert_match(/processes \(default 3\)/, help)
        assert_no_match(/take turns/, help)
      end

      test "each list has the rows and blocks that can be chosen" do
        { "stores" => [*Contenders.names, *Suites.fetch("published-a").blocks.map(&:key)],
          "features" => Contenders.names, "sessions" => ["sql-mariadb"], "stampede" => %w[memcached-lock killed],
          "advise" => ["solid_cache-postgresql"], "compressors" => ["zstd-3"], "all" => %w[stores hitratio],
          "hitratio" => %w[zipf oraclegeneral] }.each do |name, words|
          list = here(name, "--list").out
          words.each { |word| assert_match(/^  #{word} +\S/, list, name) }
        end
      end

      # Wrong usage of each kind, and what is said.
      REFUSED = {
        "stores --only bogus" => /unknown contender bogus; known: larder, memory, file/,
        "stores --blocks bogus" => /unknown block bogus; known: miss, hit, miss_published/,
        "stores --blocks ," => /--blocks and --quick leave no block/,
        "stores --sessions 0" => /--sessions must be more than 0, not 0/,
        "stores --seconds x" => /invalid argument: --seconds x/,
        "stores --only file --base redis" => /--base redis is not among the contenders: file/,
        "stores --base bogus" => /unknown contender bogus/,
        "stores --only file --except file" => /leave no contender/,
        "stores redis" => /unexpected argument redis/,
        "stores --qui" => /invalid option: --qui/,
        "stores --require nothing_like_it" => /--require nothing_like_it/,
        "stores --url mongodb=x" => /--url mongodb=x: NAME=URL, with a NAME of redis, /,
        "stores --url redis" => /--url redis: NAME=URL/,
        "machines --blocks hit_500us,hit_yours" => /the block hit_yours needs --rtt RTT,TIME/,
        "stores --only memory --json /nowhere/run.json" => %r{--json /nowhere/run.json: cannot be written},
        "stores --only memory --html #{__dir__}" => /--html #{__dir__}: it is a directory/,
        "stores --only memory --html=" => /--html: name a file/,
        "hitratio zipf --size 5x0KB" => /--size 5x0KB must be more than 0/,
        "hitratio none.csv" => /none\.csv: No such file or directory;/,
        "sessions --only x" => /unknown session store x; known: larder, /,
        "compressors --only zip" => /unknown compressor zip; known: none, snappy/,
        "compressors --payload /missing" => /no such file; an expression begins with ruby:/,
        "capacity --size 1kb" => /--size 1kb: at least 4MiB/,
        "latency --rate 0" => /--rate must be more than 0/,
        "latency --block-seconds 30" => /--block-seconds must be 29 or less, not 30/,
        "machines --rtt 500ms" => /--rtt 500ms: a round trip of 450ms at most/,
        "machines --rtt 1ms,11s" => /--rtt 1ms,11s: .* a local_expires_in of 100ms to 10s/,
        "network --wire fast" => /--wire fast: a duration is written 200us/,
        "replay none.trace" => /none\.trace: No such file/,
        "replay one two" => /one FILE at a time: one, two/,
        "replay #{__FILE__}" => /commands_test\.rb is not a trace of Larder::Lab\.record/,
        "hitratio zipf:skew=1" => /cannot read the trace zipf:skew=1: .*; --list lists patterns and formats/,
        "hitratio x --policy lifo" => /unknown policy lifo; known: larder, lru/,
        "hitratio x --size big" => /--size big/,
        "hitratio zipf --size ," => /--policy and --size: name at least one/,
        "all --only bogus" => /unknown comparison bogus; known: applications/,
        "all --except #{Commands::All.parts.join(",")}" => /--only, --except and --continue leave nothing/,
        "all --continue #{__FILE__}" => /commands_test.rb: not a report of larder-lab/,
        "advise --reads many" => /--reads many: a number, such as 20 or 0.5/,
        "advise --hosts 0" => /--hosts 0: a whole number from 1 on/,
        "advise --shared-by all" => /--shared-by all: one of hosts, processes, nobody/,
        "advise --hit-ratio 101%" => /--hit-ratio 101%: a share, such as 90%/,
        "advise --only litecache" => /unknown store litecache; known: larder, memory/,
        "advise --from run.json --only redis" => /--from run.json: nothing is measured then; leave out --only/,
        "report" => /name a JSON file of a run/,
        "report #{__FILE__}" => /commands_test.rb: not a report of larder-lab/,
        "report none.json" => /none.json: No such file/,
        "compare one" => /name two reports, or two directories of reports, not 1/,
        "compare a b --fail-on 5" => /--fail-on 5: give percent, as 5%/,
        "compare /nowhere/a /nowhere/b" => %r{/nowhere/a: No such file},
        "compare #{__dir__} #{__dir__}" => /#{__dir__}: no JSON file in this directory; --json FILE writes one/
      }.freeze

      test "wrong usage is refused by name, with what is possible, and nothing is measured" do
        REFUSED.each do |words, message|
          run = here(*words.split)
          assert_equal [2, ""], [run.status, run.out], words
          assert_match message, run.err
          assert_match(/Try: larder-lab #{words[/\S+/]} --help/, run.err)
        end
      end

      # A row that answers wrongly in each suite, and what is said of it.
      LIES = {
        "applications --only swapper --blocks fragment,page" => /swapper: invalid, a wrong value: call \d+ of the bl/,
        "stores --only liar --blocks hit" => /liar: invalid, a wrong value: call 3 of the block "hit, one thread"/,
        "replay --calls 500 --window 1 --only swapper" => /swapper: invalid, a wrong value in request \d+ of the rec/,
        "latency --rate 400 --block-seconds 0.1 --only liar" => /liar: invalid, a wrong value: "Hello Mars!" of cal/,
        "scaling --quick --blocks hit_processes --only loser" => /loser: invalid, a wrong value: :lost instead of "He/,
        "soak --quick --size 4MiB --only mixer" => /mixer: invalid, a wrong value: "0+7" instead of that of object 1/,
        "capacity --quick --size 8MiB --blocks 10k --only exchanger" => %r{exchanger: .* a wrong value for object/\d+},
        "stampede --quick --processes 2 --threads 3 --blocks absent --only inventor" =>
          /inventor: invalid, a wrong value: "Hello Mars!", which no block made/,
        "machines --rtt 5ms,200ms --blocks seen_yours --only overdue" =>
          /overdue: invalid, an answer was \d+ ms older than a change on another machine, at most/
      }.freeze

      LIES.each do |words, message|
        test "a wrong value fails the run: #{words}" do
          needs_server("redis") if words.include?("overdue")

          name, *options = words.split
          run = lab(name, *(SHORT unless words.include?("--quick")), *options, "--require", fixture("liar"))
          assert_equal 1, run.status, run.out
          assert_match message, run.words
        end
      end
    end
  end
end
