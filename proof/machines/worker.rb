# frozen_string_literal: true

# A process of a machine: a program of its own that uses the store by its public interface. Its first argument is a JSON
# object: path, ledger, options, process, seed, bug. It makes operations at random, does what it is asked by lines of
# standard input, and ends at SIGTERM, or when its standard input closes.

require "active_support"
require "active_support/cache"
require "io/wait"
require "json"
require_relative "work"
require_relative "bugs"

module MachineProof
  # Makes operations until it is ordered otherwise.
  class Worker
    # Seconds between two operations, at most.
    PAUSE = 0.03

    # @param job [Hash{String=>Object}]
    def initialize(job)
      @random = Random.new(job["seed"])
      @errors = []
      options = Setting.store_options(Setting::CONFIGURATIONS.fetch(job["process"]["configuration"]), job["ports"])
      store = ActiveSupport::Cache.lookup_store(:larder_store, job["path"], { **options, error_handler: handler })
      Bugs.apply(job["bug"], store, @random) if job["bug"]
      @work = Work.new(store, Ledger.new(job["ledger"], job["process"]), job["process"], @random, @errors)
      @busy = true
    end

    # @return [void]
    def run
      answer("ready")
      until @ended
        @work.random_operation if @busy
        listen(@busy ? @random.rand * PAUSE : PAUSE)
      end
    end

    # @return [void]
    def finish
      @ended = true
    end

    private

    # Only what is reported to the thread that makes the operation belongs to it.
    def handler
      caller = Thread.current
      lambda do |exception:, **|
        @errors << exception.class.name if Thread.current == caller
      end
    end

    def listen(seconds)
      return unless $stdin.wait_readable(seconds)

      line = $stdin.gets
      line ? obey(JSON.parse(line)) : finish
    end

    def obey(order)
      case order.fetch("do")
      when "work" then answer(@busy = true)
      when "rest" then answer(@busy = false)
      when "stats" then answer(@work.note_settled)
      when "read" then answer(order["names"].to_h { |name| [name, @work.read(:read, [name])[:found]&.fetch(name)] })
      when "write" then answer(@work.change(:write, order["names"])[:result])
      end
    end

    def answer(object)
      $stdout.puts(JSON.generate([object]))
      $stdout.flush
    end
  end
end

worker = MachineProof::Worker.new(JSON.parse(ARGV.fetch(0)))
trap("TERM") { worker.finish }
worker.run
