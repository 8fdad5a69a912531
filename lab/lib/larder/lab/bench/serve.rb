# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "active_support/core_ext/numeric/time"
require "active_support/core_ext/object/blank"
require "json"
require_relative "../contenders"
require_relative "../errors"
require_relative "../yjit"
require_relative "../suites"
require_relative "callers"
require_relative "reference_loop"
require_relative "turn"

module Larder
  module Lab
    module Bench
      # The process that measures one contender in one session: opens the store, proves that it keeps values, and takes
      # turns when it is asked to. Reads its job and then one request a line from standard input, answers each with a
      # line of JSON, and ends when its input does, so that it cannot outlive the lab. Forked by {Preload} for a
      # {Seat}.
      class Service
        # Seconds of a call that is not made once more to find out how many make a turn.
        LONG = 0.2
        # Part of Ruby's slots that is free before turns. Where a collection of young objects leaves less than a fifth,
        # Ruby's next one is of all objects, and takes about as long as a turn.
        ROOM = 0.25
        # Numbers of calls: between two looks at the methods that YJIT has compiled; the least, as it compiles a method
        # at its 30th call, and in a large application at its 120th; the most, for code that it compiles for ever. After
        # these seconds, long calls have run what is inside them often enough.
        COMPILING = { step: 16, least: 160, most: 1600, seconds: 2.0 }.freeze

        # Serves standard input, until it ends.
        def self.main
          output = $stdout.dup
          output.sync = true
          job = JSON.parse($stdin.gets || exit!)
          $stderr.reopen(job["log"], "a")
          $stderr.sync = true
          $stdout.reopen($stderr) # a store may print
          Dir.chdir(job["dir"])
          Yjit.enable
          job["requires"].each { |file| require file }
          new(job, $stdin, output).serve
        end

        # `job` is that of a {Seat}.
        def initialize(job, input, output)
          @job = job
          @input = input
          @output = output
          @suite = job["suite"] == ReferenceLoop::KEY ? ReferenceLoop.new : Suites.fetch(job["suite"])
          @unfilled = {}
        end

        def serve
          answer { open }
          while (line = @input.gets)
            request = JSON.parse(line)
            answer { public_send(request["do"], *request["arguments"]) }
          end
        end

        # The first calls of this process, on entries that another one has stored. If there are several such
        # blocks, each has a child of this process for itself.
        def cold(key)
          raise Unavailable, @unfilled[key] if @unfilled.key?(key)

          block = @suite.fetch(key)
          return Callers.all(1) { first_calls(block) }.first if @suite.blocks.count(&:cold) > 1

          first_calls(block)
        end

        # Prepares a block. Answers "figures" that this has found out.
        def prepare(key)
          @block&.teardown&.call(@scene)
          @block = nil # without its setup, a block has nothing to tear down
          block = @suite.fetch(key)
          @contender.clear
          @scene = scene(@contender)
          block.setup.call(@scene)
          @block = block
          @turn = Turn.new(block, @scene)
          { figures: @scene.figures }
        end

        # Makes the calls of a paced block.
        def pace = @block.paced.call(@scene)

        # Finds out how many calls a turn must have.
        def calibrate(seconds)
          compile
          { calls: enough(seconds) }
        end

        # Takes turns that do not count: with YJIT until it compiles nothing more, then one.
        def warm_up(calls)
          compile
          @calls = calls
          @turn.take(calls)
          collect
          {}
        end

        def turn = took(@turn.take(@calls))

        private

        def answer(&block) = @output.puts(JSON.generate(Callers.outcome(&block)))

        def compile
          return unless Yjit.on?

          taken = 0.0
          (COMPILING[:step]..COMPILING[:most]).step(COMPILING[:step]) do |calls|
            before = Yjit.compiled
            taken += @turn.take(COMPILING[:step]).seconds
            break if (calls >= COMPILING[:least] && Yjit.compiled == before) || taken > COMPILING[:seconds]
          end
        end

        # A collection of all objects takes 14 to 46 ms, one of young objects 1 ms.
        def collect
          GC.start(full_mark: false)
          GC.start if GC.stat(:heap_free_slots) < GC.stat(:heap_available_slots) * ROOM
        end

        def took(outcome)
          { seconds: outcome.seconds / outcome.calls, calls: outcome.calls, faults: outcome.faults }
        end

        def enough(seconds)
          calls = 1
          calls *= 2 while (taken = @turn.take(calls).seconds) < seconds / 2
          taken = @turn.take(calls).seconds if taken < LONG
          taken < seconds ? (calls * seconds / taken).ceil : calls
        end

        # Entries for cold calls are stored by another process, so that this one has touched nothing of them.
        def open
          cold = @job["cold"].any?
          @job["endpoint"], @unfilled = Callers.all(1) { fill }.first if cold
          @contender = made.open
          prove_all(@contender) unless cold
          { versions: versions(@contender), options: @contender.recorded }
        end

        def scene(contender) = Scene.new(contender, settings: @suite.settings)

        def first_calls(block)
          scene = scene(@contender)
          block.load.call(scene)
          { **took(Turn.new(block, scene).take(block.cold)), figures: scene.figures }
        end

        # A codec has no store in which values could stay.
        def prove_all(contender)
          contender.respond_to?(:prove) ? contender.prove(@job["proofs"]) : prove(contender, @job["proofs"])
        end

        def made
          threads = [*@suite.blocks.map(&:threads), @suite.settings[:threads]].compact.max
          @suite.registry.fetch(@job["contender"]).new(dir: @job["dir"], endpoint: @job["endpoint"], size: @job["size"],
                                                       threads: threads,
                                                       **(@job["companion"] ? { companion: @job["companion"] } : {}))
        end

        # Answers where the entries are, and why blocks have none.
        def fill
          contender = made.open
          prove_all(contender)
          unfilled = @job["cold"].filter_map do |key|
            @suite.fetch(key).setup.call(scene(contender))
            nil
          rescue Unavailable => error
            [key, error.message]
          end
          [@job["endpoint"]&.merge("inherited" => true), unfilled.to_h]
        end

        # Different values under different keys come back, and a deleted one does not. Warms the code up as well.
        def prove(contender, values)
          contender.clear
          values.times { |i| prove_key(contender, ["proof", i], "value #{i} é") }
          contender.clear
        end

        def prove_key(contender, key, value)
          store = contender.store
          demand(contender, value, store.fetch(key, expires_in: 5.minutes) { value }, "fetch with a block")
          return unless contender.class.keeps_values?

          demand(contender, value, store.fetch(key) { "the block ran again" }, "fetch of a stored value")
          demand(contender, value, store.read(key), "read")
          store.write(key, "other #{value}")
          demand(contender, "other #{value}", store.read(key), "read after write")
          store.delete(key)
          demand(contender, nil, store.read(key), "read after delete")
        end

        def demand(contender, expected, actual, call)
          return if expected == actual

          wrong = "a wrong value: #{call} answered #{actual.inspect} instead of #{expected.inspect}"
          raise Invalid, [wrong, *contender.failure].join("; ")
        end

        def versions(contender)
          gems = contender.class.gems.keys.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s] }
          { "activesupport" => ActiveSupport::VERSION::STRING, **gems,
            "sqlite" => (SQLite3::SQLITE_VERSION if defined?(SQLite3::SQLITE_VERSION)),
            "larder" => (::Larder::VERSION if defined?(::Larder::VERSION)) }.compact
        end
      end
    end
  end
end
