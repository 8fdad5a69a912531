# frozen_string_literal: true

# A process of its own for a machine: a Rack application with `cache:`, and a file of its own. Reads requests from the
# connections of a Unix socket and answers each. Its argument is a JSON object: socket, file, remote, backplane, fault.

require "json"
require "rack/mock"
require "rack/session/larder"
require "redis"
require "socket"
require_relative "faults_of_machines"
require_relative "questions"

module SessionProof
  # Answers the requests of the proof, each with the Rack application, or with a method of {Larder::Sessions}.
  class Machine
    include Questions

    # One in this number of calls of the store waits before it is made, so that requests overlap in more ways.
    PAUSES = 4
    PAUSE = (0.0..0.02)
    # The body of an answer whose session was not found.
    ABSENT = "absent"
    COOKIE = "rack.session"
    NOW = :session_proof_now
    NEXT_ID = :session_proof_next_id
    ENDED = :session_proof_ended
    FAILED = :session_proof_failed
    FOUND = Larder::Sessions::Middleware::FOUND

    # Waits now and then before a call of the store.
    module Pauses
      %i[read add swap delete].each do |name|
        define_method(name) do |*arguments, **options|
          sleep(rand(PAUSE)) if rand(PAUSES).zero? && Thread.current[:session_proof_changes]
          super(*arguments, **options)
        end
      end
    end

    # Remembers whether a call of the store has failed.
    module Failures
      %i[read add swap delete].each do |name|
        define_method(name) do |*arguments, **options|
          super(*arguments, **options)
        rescue Larder::Sessions::UnavailableError
          Thread.current[FAILED] = true
          raise
        end
      end
    end

    # New sessions get the ids that the proof has chosen.
    module Ids
      def generate_sid(*)
        id = Thread.current[NEXT_ID]
        id ? Rack::Session::SessionId.new(id) : super
      end
    end

    # Remembers whether there was a session to end.
    module Ends
      def end(*)
        super.tap { |was| Thread.current[ENDED] = was } # the outermost of nested calls comes last
      end
    end

    # The store's time is the world's, and that of the proof stands still for an operation and the look after it, which
    # take half a minute where machines wait for the store. So the store keeps a session for longer than it lives, and
    # the time that a request has decides whether it is over, on each machine the same.
    module Kept
      LONGER = 60
      private_constant :LONGER

      def left(*)
        super + LONGER
      end
    end

    # @param job [Hash{String => String, nil}]
    def initialize(job)
      FaultsOfMachines.apply(job["fault"]) if job["fault"]
      @listener = UNIXServer.new(job["socket"])
      sessions = Rack::Session::Larder.new(
        method(:serve), **SETTINGS, cache: [:redis_cache_store, { url: job["remote"], reconnect_attempts: 0 }],
                                    cache_id: "sessions", backplane: job["backplane"], file: job["file"], size: 1 << 20
      )
      sessions.singleton_class.prepend(Ids)
      @application = Rack::MockRequest.new(sessions)
      @repository = sessions.repository
      @repository.backend.singleton_class.prepend(Pauses, Failures)
      @repository.singleton_class.prepend(Ends)
      @repository.lifetimes.singleton_class.prepend(Kept)
      @repository.instance_variable_set(:@clock, -> { Thread.current[NOW] || Time.now })
      @statistics = Larder::Sessions::Statistics.new(@repository)
    end

    # Ends with its standard input.
    # @return [void]
    def run
      Thread.new { loop { Thread.new(@listener.accept) { |connection| converse(connection) } } }
      $stdout.puts("ready")
      $stdout.flush
      $stdin.read
    end

    private

    def converse(connection)
      loop do
        now, name, *arguments = Marshal.load(connection)
        Thread.current[NOW] = now
        Marshal.dump(answer(name, arguments), connection)
      end
    rescue EOFError, Errno::EPIPE, Errno::ECONNRESET
      connection.close
    end

    # @return [Array(Symbol, Object)] :answer, :unknown or :error
    def answer(name, arguments)
      Thread.current[:session_proof_changes] = %i[change logout revoke].include?(name)
      [:answer, send(name, *arguments)]
    rescue Larder::RemoteError => error
      [:unknown, error.message]
    rescue StandardError => error
      [:error, "#{error.class}: #{error.message} #{error.backtrace.first(4)}"]
    end

    # As the application: does what env says.
    def serve(env)
      kind, set, removed = env["proof.does"]
      session = env["rack.session"]
      if kind == :end
        session.destroy
        return [200, {}, []]
      end

      values = session.to_hash
      return [200, {}, [ABSENT]] unless env[FOUND] || kind == :begin

      if kind == :find
        session.options[:skip] = true # so that a look does not write the time of the last use
        return [200, {}, [Marshal.dump(values)]]
      end

      session.update(set)
      removed.each { |key| session.delete(key) }
      session.options[:renew] = true if kind == :renew
      [200, {}, []]
    end

    def cookie(id)
      "#{COOKIE}=#{Rack::Utils.escape(id)}"
    end

    # @return [Rack::MockResponse]
    # @raise [Larder::RemoteError] the answer is 503
    def get(id, *does)
      answer = @application.get("/", { "HTTP_COOKIE" => id && cookie(id), "proof.does" => does }.compact)
      raise Larder::RemoteError, answer.body if answer.status == 503

      answer
    end

    # A request whose sign-out the store does not take gets no error: its session ends instead.
    #
    # @return [Boolean] true if it was done; of :begin and :renew, if the browser got the cookie
    # @raise [Larder::RemoteError] the store did not take it
    def change(kind, id, to, set, removed)
      Thread.current[NEXT_ID] = to
      Thread.current[ENDED] = Thread.current[FAILED] = nil
      answer = get(id, kind, set, removed)
      return Thread.current[ENDED] if kind == :end
      return Array(answer["set-cookie"]).join.include?("#{cookie(to)};") if to
      return answer.body != ABSENT unless answer.errors.include?("dropped")

      Thread.current[FAILED] ? raise(Larder::RemoteError, answer.errors) : false
    ensure
      Thread.current[NEXT_ID] = nil
    end

    # @return [Array<Hash, nil>] the values of each
    def find(ids)
      ids.map do |id|
        body = get(id, :find).body
        Marshal.load(body) unless body == ABSENT
      end
    end

    def revoke(id)
      handle = handle(id)
      handle ? @statistics.revoke(handle) : false
    end

    # @return [Boolean] true if the store answers, and has all that waited here
    def settled?
      remote = @repository.backend.instance_variable_get(:@larder).remote
      remote.outbox.ready? && remote.answers? && remote.outbox.empty?
    end

    SETTINGS = { idle_timeout: Subject::IDLE, anonymous_timeout: Subject::ANONYMOUS,
                 max_lifetime: Subject::MAX_LIFETIME, per_user: Subject::PER_USER }.freeze
    private_constant :SETTINGS, :NOW, :NEXT_ID, :ENDED, :FAILED, :FOUND, :COOKIE, :ABSENT
  end
end

SessionProof::Machine.new(JSON.parse(ARGV.fetch(0))).run if $PROGRAM_NAME == __FILE__
