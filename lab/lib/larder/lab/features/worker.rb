# frozen_string_literal: true

# The process that asks one store its questions and answers in JSON lines. Started by {Asking}.

require "json"
require "timeout"
require "zlib"
require_relative "../clock"
require_relative "../job"
require_relative "asking"
require_relative "opening"
require_relative "peer"
require_relative "probes"

module Larder
  module Lab
    module Features
      # Rails' own compressor, which counts bytes.
      module CountingCompressor
        class << self
          # @return [Integer, nil] bytes that went in, and that came out
          attr_reader :taken, :given

          # @return [String]
          def deflate(text)
            @taken = taken.to_i + text.bytesize
            Zlib.deflate(text).tap { |packed| @given = given.to_i + packed.bytesize }
          end

          # @return [String]
          def inflate(packed) = Zlib.inflate(packed)
        end
      end

      # Opens the store, looks for the mark of another process, asks, and leaves a mark. Blocks of {Probes} run in it.
      class Worker
        include Clock

        # Seconds that a question may take; a filling takes longer, because databases write slowly.
        PATIENCE = { full: 150 }.tap { |seconds| seconds.default = 30 }.freeze
        # Processes besides this one.
        PEERS = 2
        # Bytes below memcached's megabyte, and how many values of that size show the room that they take.
        TEXT = 900_000
        TEXTS = 10
        # Seconds between the end of a life and the look for its value.
        AFTERWARDS = 0.2

        # @param job [Hash{String=>Object}] see {Visit}
        # @param output [IO] where answers go
        def initialize(job, output)
          @job = job
          @output = output
        end

        # @return [void]
        def run
          last = job["probes"] & Probes.of(:last)
          @peers = last.any? ? Array.new(PEERS) { Peer.new { Opening.open(job).store } } : []
          Job.finally { peers.each(&:stop) } # before the directory is removed, in which they may be making files
          enter
          store.clear if job["clear"]
          emit(job["asks"], store.read("mark") == job["wanted"], job["how"]) if job["asks"]
          ask(job["probes"] - last)
          store.write("mark", job["mark"]) if job["mark"]
          ask(last)
          Process.kill(:KILL, Process.pid) if job["die"]
          emit(Asking::DONE)
        rescue Unavailable => error
          emit(Asking::UNAVAILABLE, error.message)
        end

        private

        attr_reader :store, :job, :peers

        def enter
          @contender = Opening.open(job, **(job["counting"] ? { compressor: CountingCompressor } : {}))
          @store = @contender.store
          job["directories"] = Opening.directories(@contender, job)
        rescue ArgumentError # a store that takes no compressor
          raise unless job.delete("counting")

          retry
        end

        def emit(*answer) = @output.puts(JSON.generate(answer))

        # An error in one line.
        def words(error) = "#{error.class}: #{error.message.lines.first.to_s.strip}"

        def ask(keys)
          keys.each do |key|
            answer, note = attempt(Probes.fetch(key))
            emit(key, answer.nil? ? "unknown" : answer, note)
          end
        end

        def attempt(probe)
          Timeout.timeout(PATIENCE[probe.part]) { instance_exec(&probe.block) }
        rescue Lost => error
          [false, error.message]
        rescue StandardError, NotImplementedError, LoadError => error
          ["unknown", words(error)]
        end

        # Writes, and proves that it can be read.
        def keep(key, value, **options)
          store.write(key, value, **options)
          raise Lost, "what is written cannot be read" unless seen?(key, value)
        end

        def seen?(key, value) = store.read(key) == value

        def expired(life)
          started = now
          store.write("expiring", "v", expires_in: life)
          there = seen?("expiring", "v")
          return [nil, "the machine is too busy to read within #{life} s"] if now - started > life / 2.0
          return [false, "a value of #{life} s is gone at once"] unless there

          sleep life + AFTERWARDS
          gone = store.read("expiring").nil?
          [gone, "after #{life} s it #{gone ? "is gone" : "is still there"}"]
        end

        def shared?
          @shared = attempt(Probes.fetch("cross_process")).first == true if @shared.nil?
          @shared
        end

        def way
          endpoint = job["endpoint"] or return "files"
          endpoint["socket"] ? "a Unix socket" : "TCP on the loopback interface"
        end

        # Another process changes the value, behind the store.
        def local_copy?
          keep("local", "one")
          peers.first.ask(:write, "local", "two")
          seen?("local", "one")
        end

        # A store that no other process can change, and that keeps nothing itself.
        def local_value?
          store.write("local", "one")
          !@contender.class.keeps_values? && seen?("local", "one")
        end

        def apart?(length)
          pair = %w[1 2].to_h { |last| ["#{"k" * (length - 1)}#{last}", last] }
          pair.each { |key, value| store.write(key, value) }
          pair.all? { |key, value| seen?(key, value) }
        rescue StandardError
          false # a length that this store refuses
        end

        def holds?(bytes)
          value = (@noise ||= Random.new(job["seed"]).bytes(Probes::LARGEST)).byteslice(0, bytes)
          store.write("large", value, compress: false) && seen?("large", value)
        rescue StandardError
          false # too large, as this store says it
        ensure
          forget("large")
        end

        def forget(key)
          store.delete(key)
        rescue StandardError
          nil # a connection that was cut with the value
        end

        def packed?(**options)
          keep("text #{options}", text(options.size), **options)
          CountingCompressor.taken.to_i >= TEXT
        end

        # Bytes that texts take, and that as much noise takes.
        def room(**options)
          [->(i) { text(i) }, ->(i) { Random.new(i).bytes(TEXT) }].map do |make|
            before = footprint
            TEXTS.times { |i| store.write("room-#{make.hash}-#{i}", make.call(i), **options) }
            growth = footprint - before
            job["endpoint"] ? [growth.server, growth.disk].max : [growth.own, growth.mapped, growth.disk].max
          end
        end

        def footprint = Footprint.take(pid: job.dig("endpoint", "pid"), dirs: job["directories"])

        def text(number)
          line = "All work and no play makes #{number} a dull number. "
          (line * (TEXT / line.size)).ljust(TEXT)
        end

        def servers = Probes::SERVERS[@contender.recorded[:store]]

        # A store over these servers, without files that another one has used.
        def over(urls)
          file = File.join(job["dir"], "over-#{@stores = @stores.to_i + 1}.larder")
          ActiveSupport::Cache.lookup_store(@contender.recorded[:store], *servers.call(urls, file))
        end

        def filling
          raise Error, "the filling did not come to an end" if @begun && @filling.nil?

          @begun = true
          @filling ||= Filling.new(store, job)
        end
      end
    end
  end
end

Larder::Lab::Features::Worker.new(*Larder::Lab::Job.take).run if $PROGRAM_NAME == __FILE__
