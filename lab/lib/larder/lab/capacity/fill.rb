# frozen_string_literal: true

# Fills one store with objects of one kind, with a fresh server, directory and process.

require_relative "../errors"
require_relative "../gemfiles"
require_relative "../hosting"
require_relative "../visits"
require_relative "../worker_process"

module Larder
  module Lab
    module Capacity
      # What is to be filled. to_s: for progress
      Task = Struct.new(:contender, :kind, :round, keyword_init: true) do
        # @return [String]
        def to_s
          "#{contender}, #{kind}"
        end
      end

      # What was found. state: :measured, :unavailable or :invalid; found: see {Worker}.
      Filled = Struct.new(:task, :state, :reason, :found, keyword_init: true) do
        # @return [Boolean]
        def measured?
          state == :measured
        end

        # @return [Integer] objects that were there
        def held
          found["held"]
        end

        # Where the objects are: the first that has grown by half of what they are, or by more.
        # @return [String, nil] "disk", "tmpfs", "server", "own"
        def place
          least = held * found["payload"] / 2
          %w[disk tmpfs server own].find { |name| found["growth"][name] > least }
        end

        # @return [Integer, nil] bytes that they really take there
        def taken
          place && found["growth"][place]
        end

        # @return [Float, nil] bytes that each takes
        def bytes_each
          taken && held.positive? ? taken.fdiv(held) : nil
        end
      end

      # Fills one store.
      class Fill
        SCRIPT = File.expand_path("worker.rb", __dir__)
        # Seconds that it may take.
        PATIENCE = 300
        NOT_OURS = "a server that is not the lab's own is not filled"

        # @param task [Task]
        # @param options [Options]
        # @param scratch [Scratch]
        def initialize(task, options, scratch)
          @task = task
          @type = Contenders.fetch(task.contender)
          @options = options
          @scratch = scratch
        end

        # @return [Filled]
        def run
          return turned_down(:unavailable, "it keeps nothing") unless @type.keeps_values?
          return turned_down(:unavailable, NOT_OURS) if @options.urls.key?(@type.server)

          Filled.new(task: @task, state: :measured, found: fill)
        rescue Unavailable => error
          turned_down(:unavailable, error.message)
        rescue Invalid => error
          turned_down(:invalid, error.message)
        end

        private

        def turned_down(state, reason)
          Filled.new(task: @task, state: state, reason: reason)
        end

        def fill
          Visits.directory(@scratch, @task.to_h.values.join("-")) do |dir|
            Hosting.for(@type, dir, size: @options.size) do |endpoint, server|
              process(dir, endpoint, server && "#{dir}-server").run { nil }
            end
          end
        end

        def process(dir, endpoint, server_dir)
          job = { contender: @task.contender, dir: dir, endpoint: endpoint, server_dir: server_dir, kind: @task.kind,
                  size: @options.size, seed: @options.seed + @task.round, check: @options.check,
                  requires: @options.requires }
          WorkerProcess.new(job, dir: dir, log: File.join(@scratch.path, "#{@task.contender}.log"), timeout: PATIENCE,
                                 script: SCRIPT, gemfile: Gemfiles.path(@type.bundle))
        end
      end
    end
  end
end
