# frozen_string_literal: true

# The process that asks one store its questions: opens the store, answers one question after the other as JSON lines,
# and ends. What must outlast a process is written here under the names that the next one reads. Started by {Visit}.

require_relative "../answers"
require_relative "../job"
require_relative "cluster"
require_relative "opening"
require_relative "peer"
require_relative "probes/compression"
require_relative "probes/filling"
require_relative "probes/processes"
require_relative "probes/times"
require_relative "probes/values"

module Larder
  module Lab
    module Features
      # Does the parts of a visit, each in a process of its own.
      class Worker
        include Answers

        # What each part is.
        PARTS = %w[first again reader filler cluster].freeze

        # @return [void]
        def self.main
          new(*Job.take).run
        end

        # @return [void]
        def run
          answering do
            send(@job["part"]) if PARTS.include?(@job["part"])
            {}
          end
        end

        private

        attr_reader :store

        # Everything that one run of the application shows. Others join when its store is there.
        def first
          enter
          peers = Array.new(@job["peers"]) { Peer.new(peer_job) }
          times = Times.new(store, @job)
          times.begin
          ask(Values.new(store, @job))
          ask(times)
          mark
          ask(Processes.new(store, @job, peers))
          peers.each(&:stop)
        end

        # The application starts again, and is killed.
        def again
          counting = enter_counting
          found
          ask(Compression.new(store, @job.merge("counting" => counting)))
          mark
          Process.kill(:KILL, Process.pid) if @job["die"]
        end

        # Reads what another process has left, and leaves something itself.
        def reader
          enter
          found
          mark
        end

        def filler
          enter
          store.clear if @job["clear"]
          filling = Filling.new(store, @job)
          ask(filling)
          emit("evidence", filling: filling.evidence)
        end

        # Two servers, of which this process is told.
        def cluster
          enter
          answer, note = Cluster.try(@contender.recorded[:store], @job["urls"])
          emit("answer", question: "cluster", answer: answer, note: note)
        end

        # The memory store takes no compressor.
        def enter_counting
          enter(compressor: CountingCompressor)
          true
        rescue ArgumentError
          enter
          false
        end

        def enter(**codecs)
          @contender = Opening.open(@job, **codecs)
          @store = @contender.store
          @job["directories"] = Opening.directories(@contender, @job)
          emit("ready", store: store.class.name)
        end

        def mark
          store.write("mark", @job["mark"]) if @job["mark"]
        end

        def found
          wanted = @job["wanted"]
          emit("answer", question: @job["asks"], answer: store.read("mark") == wanted, note: @job["how"]) if wanted
        end

        def ask(probe)
          probe.class::QUESTIONS.each do |question|
            emit("answer", question: question, **probe.ask(question).transform_keys(&:to_sym))
          end
        end

        def peer_job
          @job.slice("contender", "dir", "endpoint", "size", "namespace", "requires")
        end
      end
    end
  end
end

Larder::Lab::Features::Worker.main if $PROGRAM_NAME == __FILE__
