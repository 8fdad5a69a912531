# frozen_string_literal: true

# Says whether a cache works, and if not, why: for monitoring, as a method and as a page.

require "json"
require_relative "../bytes/doctor"
require_relative "../bytes/free_space"
require_relative "../bytes/monotonic_clock"
require_relative "../bytes/remedy"
require_relative "../metrics"

module Larder
  class Metrics
    # A Rack application that answers 200, or 503 with the problems of the cache. It asks the remote store, if there is
    # one, so it takes as long as that.
    #
    # Do not make it part of the check that a load balancer, Kamal or Kubernetes uses to choose the machines that get
    # requests, such as Rails' /up. An application whose cache fails still answers, only slower. The remote store fails
    # for all machines at once, so all would be taken out.
    #
    # @example In config/routes.rb
    #   # mount Larder::Metrics::Health.new(token: ENV["LARDER_METRICS_TOKEN"]) => "/cache_health"
    class Health
      extend Endpoint::ForClass
      include Endpoint
      include MonotonicClock

      # `check`: a Symbol; `what`: a sentence that says what is wrong.
      Problem = Struct.new(:check, :what)

      # The result: `path` of the file; `problems`: Array of {Problem}; `note`: a sentence about a cache without a file,
      # as no process has used it yet, which is not a problem, or nil.
      Report = Struct.new(:path, :problems, :note) do
        # @return [Boolean]
        def healthy?
          problems.empty?
        end

        # @return [Hash] for machines
        def to_h
          { status: healthy? ? "healthy" : "unhealthy", problems: problems.map(&:to_h), note: note }.compact
        end

        # @return [String] for people
        def to_s
          healthy? ? note || "#{path} has no problems" : problems.map(&:what).join("\n")
        end
      end

      # Seconds that changes may wait for the remote store.
      WAIT = 60
      # Part of the room for signed-in sessions. Sign-ins are refused from 0.9 on.
      ROOM = 0.8
      # Bytes that the file system has left: the journal of `remote:` takes 4 MiB, and the statistics 1 MiB.
      FREE = 16 << 20
      private_constant :WAIT, :ROOM, :FREE

      # @param cache [ActiveSupport::Cache::LarderStore, String, Pathname, nil] a store, or the path of its file,
      #   without whose store the remote store is not asked; nil: Rails.cache
      # @param wait [Numeric] seconds that changes may wait for the remote store
      # @return [Report]
      # @raise [ArgumentError] the cache is something else, or wait is not a number of seconds
      # @example
      #   Larder::Metrics::Health.check("none.larder").healthy? #=> true
      def self.check(cache = nil, wait: WAIT)
        source = Source.new(cache)
        new(cache: source, wait: wait, allow: :route).report
      ensure
        source&.close
      end

      # @param cache (see .check)
      # @param wait (see .check)
      # @param given [Hash] as of {Metrics#initialize}
      # @raise (see .check)
      def initialize(cache: nil, wait: WAIT, **given)
        unless wait.is_a?(Numeric) && wait.real? && wait >= 0
          raise ::ArgumentError, "wait: #{wait.inspect} must be a number of seconds from 0 on"
        end

        @wait = wait.to_f
        @access = access(given)
        @source = cache.is_a?(Source) ? cache : Source.new(cache)
        @since = nil
      end

      # @return [Report]
      # @raise [ArgumentError] there is no Rails.cache, or it is another store
      def report
        path = @source.path
        stats, file, note = stats_or_cause
        problems = { file: file, disk: disk(path), processes: processes(stats), configurations: configurations(stats),
                     **of_remote, sessions: sessions }
        Report.new(path, problems.compact.map { |check, what| Problem.new(check, what) }, note)
      end

      private

      # A later route for any path would answer 200, and monitoring takes that for a healthy cache.
      def hiding
        {}
      end

      def answer(_env)
        report = report_or_store
        response(report.healthy? ? 200 : 503, "application/json", "#{JSON.generate(report.to_h)}\n")
      end

      def report_or_store
        report
      rescue Source::NoStore => e
        Report.new(nil, [Problem.new(:store, e.message)])
      end

      # @return [Array(Hash), Array(nil, String), Array(nil, nil, String)] the last: a note about a cache without a file
      def stats_or_cause
        [@source.read(&:stats)]
      rescue Absence::NotUsed => e
        [nil, nil, "not used yet: #{e.message}"]
      rescue Error => e
        [nil, e.message]
      end

      # With more, the commands have room still, and so has this check if it is one of theirs.
      def processes(stats)
        return unless stats && stats[:processes] >= stats[:process_room]

        "#{stats[:processes]} processes have the file open, and it has room for #{stats[:process_room]}: in others " \
          "each read is a miss, and nothing is stored; `larder doctor` says what to do"
      end

      def configurations(stats)
        return unless stats && Doctor::UseChecks.configurations_full?(stats)

        "stores of more configurations use the file than it has rows for, so each new one empties it: `larder " \
          "doctor` says what to compare"
      end

      # The file has its room already; what is next to it may grow.
      def disk(path)
        free = FreeSpace.of(File.dirname(path))
        return unless free && free < FREE

        "the file system of #{path} has #{free / 1024} KiB left: statistics and the journal of remote: may need more"
      end

      def of_remote
        figures = RemoteFigures.new(@source)
        { remote: remote, outbox: outbox(figures), listener: listener(figures), copies: copies(figures) }
      end

      def remote
        remote = @source.store&.remote
        return if remote.nil? || remote.answers?

        "the remote store (#{remote.store.class}) does not answer, or refuses to be read"
      end

      # A file system without birth times: since this object has seen it.
      def outbox(figures)
        @since = nil unless (waiting = figures.waiting?)
        return unless waiting

        @since ||= monotonic_now
        seconds = figures.waiting_for || (monotonic_now - @since)
        return if seconds < @wait

        "the remote store has not got all changes of this machine for #{seconds.round} seconds, and is not read"
      end

      def listener(figures)
        return unless figures.listener? == false

        "no process of this machine listens to the backplane: one does from the next call of the cache on"
      end

      def copies(figures)
        return unless figures.trusted? == false && figures.listener?

        "the copies of this machine are not trusted, so each read asks the remote store: the backplane does not answer"
      end

      def sessions
        stats = SessionFigures.stats
        return if stats.nil? || stats.fetch(:full) < ROOM

        "#{(stats.fetch(:full) * 100).floor} % of the room for signed-in sessions is used, and from 90 % on sign-ins " \
          "are refused: `larder resize --keep #{Remedy.quoted(Sessions.current.file)} SIZE` gives them more, while " \
          "the application is stopped"
      rescue Error => e
        "the sessions cannot be read: #{e.message}"
      end
    end
  end
end
