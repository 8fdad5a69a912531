# frozen_string_literal: true

# Declares calls of a machine whose store is behind a round trip, and what it sees while another machine changes values.

require_relative "machines/ages"
require_relative "machines/neighbour"
require_relative "machines/traffic"
require_relative "../proxy"
require_relative "../reports/figures"
require_relative "../units"

module Larder
  module Lab
    module Suites
      # Stores that several machines share, alone and with Larder in front of them. Each machine is a process with a
      # file of its own.
      module Machines
        # Seconds there and back to the store: in a data centre, and to another region.
        RTTS = [0.5e-3, 20e-3].freeze
        # Seconds that a copy is used without a backplane: while another machine changes values, and else.
        EXPIRES = 0.5
        LONGER = 60.0
        # Rails' clients give up after a second, and a call may need two round trips.
        LONGEST = 0.45
        EXPIRIES = (0.1..10.0)
        # Keys of a page and of a read_multi.
        PAGE = 10
        # Seconds of changes that are watched, and of reads after them, to which the bound is added; round trips that
        # are added to both.
        WATCHED = 0.6
        SETTLING = 0.2
        TRIPS = 4
        # Seconds that an answer may be older than its bound, because expiry is in milliseconds.
        SLACK = 0.01

        module_function

        # @param text [String] as typed: "12ms,5s"
        # @return [String] seconds of both
        # @raise [UsageError]
        def parsed(text)
          rtt, expires = text.split(",").map { |word| Units.duration(word, "--rtt") }
          raise UsageError, "--rtt #{text}: a round trip of #{(LONGEST * 1000).round}ms at most" if rtt.to_f > LONGEST

          expires ||= EXPIRES
          return "#{rtt.to_f},#{expires}" if EXPIRIES.cover?(expires)

          raise UsageError, "--rtt #{text}: a local_expires_in of 100ms to 10s"
        end

        # Has a machine at that distance from the server, one for all blocks of this process.
        # @param scene [Bench::Scene] keeps its store
        # @param rtt [Float, nil] nil: as the user has given
        # @param expires [Float, nil] seconds that a copy is used; nil: as the user has given, or {EXPIRES}
        # @return [ActiveSupport::Cache::Store]
        # @raise [Unavailable] if machines cannot share the store
        def at(scene, rtt, expires = nil)
          given = scene.given.to_s.split(",").map(&:to_f)
          scene[:place] = [rtt || given.first, expires || given.last || EXPIRES]
          scene[:machine], = (@opened ||= {})[scene[:place]] ||= begin
            server = scene.contender.endpoint or raise Unavailable, "machines cannot share it"
            proxy, endpoint = Proxy.before(server, Proxy::Wire.new(rtt: scene[:place].first), "wire-#{@opened.size}")
            [machine(scene, scene.contender, "machine-#{@opened.size}", endpoint), proxy]
          end
          scene[:store] = scene[:machine].store
        end

        # Stores the values of a page, and has the machine read them.
        # @param scene [Bench::Scene] keeps them
        # @param rtt [Float, nil] see {.at}
        # @return [void]
        # @raise [Invalid] if they do not come back
        def fill(scene, rtt)
          scene[:page] = (0...PAGE).to_h { |number| ["page/#{number}", Traffic.value(number)] }
          at(scene, rtt, LONGER).write_multi(scene[:page])
          scene[:file] = (scene[:store].cache if scene[:store].respond_to?(:cache))
          return if read_multi(scene) && ten_hits(scene)

          raise Invalid, "a wrong value: a page did not come back as it was stored"
        end

        # @param scene [Bench::Scene] after {.fill}
        # @return [Boolean] whether the read of a copy was right
        def hit(scene)
          scene[:store].read("page/0") == scene[:page]["page/0"]
        end

        # @param (see .hit)
        # @return [Boolean] whether ten reads, one after the other, were right
        def ten_hits(scene)
          scene[:page].all? { |key, value| scene[:store].read(key) == value }
        end

        # @param (see .hit)
        # @return [Boolean] whether a read without a copy was right
        def miss(scene)
          scene[:file]&.delete("page/0")
          hit(scene)
        end

        # @param (see .hit)
        # @return [Boolean] whether a read of ten keys without copies was right
        def read_multi(scene)
          scene[:page].each_key { |key| scene[:file].delete(key) } if scene[:file]
          scene[:store].read_multi(*scene[:page].keys) == scene[:page]
        end

        # @param (see .hit)
        # @return [Boolean]
        def write(scene)
          scene[:store].write("page/0", scene[:page]["page/0"]) ? true : false
        end

        # Reads while another machine changes values.
        # @param scene [Bench::Scene] after {.at}
        # @return [Hash{String=>Object}] see {Bench::Suite::BlockBuilder#paced}
        def reading(scene)
          beside(scene, ->(store, to) { Traffic.new(store).change(to) }) do |neighbour|
            Traffic.new(scene[:store]).run(neighbour, reads(scene))
          end
        end

        # Watches keys that another machine changes.
        # @param (see .reading)
        # @return (see .reading)
        # @raise [Invalid] if an answer was older than it may be
        def seen(scene)
          bound = scene[:machine].respond_to?(:bound) ? scene[:machine].bound : 0.0
          changes, ages = watched(scene, bound)
          raise Invalid, too_old(ages.max, bound) if ages.max > bound + SLACK

          histogram = ages.each_with_object(Histogram.new) { |age, all| all.record((age * 1e9).round) }
          { "calls" => changes.size, "seconds" => changes.sum { |_, begun, returned| returned - begun } / changes.size,
            "figures" => { "histogram" => histogram.to_h, "bound" => bound } }
        end

        # Changes, and the ages of answers. A bound that cannot be waited for is not.
        def watched(scene, bound)
          beside(scene, ->(store, to) { Ages.new(store).change(to) }) do |neighbour|
            trips = TRIPS * scene[:place].first
            to = Process.clock_gettime(Process::CLOCK_MONOTONIC) + WATCHED + trips
            neighbour.go(to)
            seen = Ages.new(scene[:store]).watch(to + SETTLING + trips + (bound > EXPIRIES.max ? 0.0 : bound))
            changes = neighbour.answer
            [changes.flatten(1), changes.zip(seen).flat_map { |made, answers| Ages.of(made, answers) }]
          end
        end

        def too_old(age, bound)
          "an answer was #{Reports::Figures.duration(age)} older than a change on another machine, at most " \
            "#{Reports::Figures.duration(bound)} is right"
        end

        # @return [#call, nil] reads that a private server has answered; nil if the machine has no file
        def reads(scene)
          return unless scene[:store].respond_to?(:cache) && scene[:machine].endpoint["private"]

          redis = ::Redis.new(url: scene.contender.endpoint["url"])
          -> { redis.info("commandstats").fetch("get", {})["calls"].to_i }
        end

        # Yields another machine, as far from the server.
        def beside(scene, work, &watching)
          opening = lambda do
            store = machine(scene, scene[:machine], "other", scene[:machine].endpoint).store
            ->(to) { work.call(store, to) }
          end
          Neighbour.with(opening, &watching)
        end

        def machine(scene, like, name, endpoint)
          machine = like.another(name, endpoint: endpoint)
          machine.copies_for(scene[:place].last) if machine.respond_to?(:copies_for)
          machine.open
        end
        private_class_method :watched, :too_old, :reads, :beside, :machine
      end

      register("machines", Bench::Suite.define("machines") do
        title "Machines that share a store"
        question "What does Larder in front of a remote store save, and how old may an answer be?"
        usual "redis", "larder-redis", "larder-redis-backplane"
        base "larder-redis"
        answers :hit_500us, :miss_500us, :write_500us
        takes("--rtt RTT,TIME", "your round trip and local_expires_in,", "such as 12ms,5s") do |text|
          Machines.parsed(text)
        end
        preload { Machines::Traffic.value(0) }

        calls = { hit: nil, ten_hits: "one after the other", miss: "the machine has no copy, the server has the value",
                  read_multi: "of ten keys without copies", write: nil }
        [*Machines::RTTS, nil].each do |rtt|
          trip = rtt ? Reports::Figures.duration(rtt) : "yours"
          place = rtt ? "#{trip} away" : trip
          key = rtt ? "#{(rtt * 1e6).round}us" : trip

          calls.each do |call, about|
            title = call == :ten_hits ? "ten hits" : call.to_s
            block("#{call}_#{key}", "#{title}, #{place}", about: about, axes: { "round trip" => trip }, heading: title,
                                                          given: rtt.nil?) do
              setup { |scene| Machines.fill(scene, rtt) }
              call { |scene, _| Machines.public_send(call, scene) }
            end
          end

          block("reading_#{key}", "reads while another machine changes values, #{place}", unit: "read",
                                                                                          given: rtt.nil?) do
            setup { |scene| Machines::Traffic.fill(Machines.at(scene, rtt)) }
            paced { |scene| Machines.reading(scene) }
          end

          block("seen_#{key}", "changes on another machine, #{place}", unit: "change", given: rtt.nil?, alone: true) do
            setup { |scene| Machines::Ages.new(Machines.at(scene, rtt)).begin }
            paced { |scene| Machines.seen(scene) }
          end
        end
      end)
    end
  end
end
