# frozen_string_literal: true

require "fileutils"
require "timeout"
require_relative "../bench/callers"
require_relative "../clock"
require_relative "../hosting"

module Larder
  module Lab
    module Suites
      # Finds out what stores can do, by trying. Each table of the report is a block.
      module Features
        %i[Published Calls Lasting].each { |name| autoload name, File.expand_path("features/questions", __dir__) }

        # Answers in place of yes and no: a question was tried without a result, or could not be tried.
        UNKNOWN = "unknown"
        UNTRIED = "not tested"
        # Blocks, with the class that answers their questions. A question has its name, which is that of the method that
        # answers it, the title of its column, and the meaning of yes.
        BLOCKS = {
          published: ["the published table", :Published, {
            serializes: ["serializes", "a copy is kept: neither the object nor what was read can change it"],
            compression: ["compression", "a text of 900 kB takes less room; on request: with compress: true"],
            local_store: ["local store", "inside with_local_cache a second read does not reach the store"],
            cross_process: ["cross process", "two processes read what the other wrote, and miss what it deleted"],
            node_local: ["node local", "the processes of one machine share it without another machine"],
            remote: ["remote", "a client reaches it by host and port"],
            cluster: ["cluster", "a client spreads its keys over two servers"]
          }],
          calls: ["calls", :Calls, {
            expires: ["expires", "a value is gone after its second"],
            expires_within_a_second: ["under 1 s", "a value of 0.4 s is there, and gone in time"],
            race_condition_ttl: ["race ttl", "while one caller renews an expired value, others read the old one"],
            delete_matched: ["delete_matched", "the kind of pattern that it takes"],
            long_keys: ["keys > 250 B", "such keys are kept apart to their last byte"],
            largest: ["largest value", "that can be read back, incompressible, of at most 16 MiB tried"]
          }],
          lasting: ["values that last, and processes that share them", :Lasting, {
            app_restart: ["app restart", "a value is there in the next process"],
            app_killed: ["app kill -9", "the same after kill -9 of the process that wrote it"],
            server_restart: ["server restart", "the same after the server was stopped and started"],
            server_killed: ["server kill -9", "the same after kill -9 of the server"],
            atomic_increment: ["increment", "no increment of several processes at once is lost"],
            fork_safe: ["fork", "a child uses the store that its parent opened, and the parent afterwards"]
          }]
        }.freeze

        # Written values cannot be read, so every other answer would mean nothing.
        class Lost < Error; end

        # The base of classes with a method for each question, which returns the answer (true, false, nil if it is
        # unknown, a number or a word) and what was seen.
        class Asking
          include Clock

          # Seconds that a question may take.
          PATIENCE = 25
          # Options of each write: keys in a server of the user expire by themselves.
          LIFE = { expires_in: 300 }.freeze
          NOT_OURS = [UNTRIED, "the server is not the lab's own"].freeze
          PASSING = "at a URL of yours its place lasts no longer than a process; without the URL the lab starts a " \
                    "server"

          # @raise [Unavailable] if other processes cannot use this store
          def initialize(scene)
            @row = scene.contender
            @store = scene.store
            raise Unavailable, PASSING if solid? && theirs?
          end

          # As a paced block has it.
          def answers(questions)
            started = now
            answers = questions.to_h { |question| [question, attempt(question)] }
            { "calls" => questions.size, "seconds" => (now - started) / questions.size, "figures" => answers }
          end

          private

          attr_reader :row, :store

          def attempt(question)
            answer, note = Timeout.timeout(PATIENCE) { send(question) }
            [answer.nil? ? UNKNOWN : answer, note]
          rescue Lost => error
            [false, error.message]
          rescue StandardError, NotImplementedError, LoadError => error
            [UNKNOWN, words(error)]
          end

          # An error in one line.
          def words(error)
            [(error.class unless error.is_a?(Error)), error.message.lines.first.to_s.strip].compact.join(": ")
          end

          def put(key, value, **options) = store.write(key, value, **LIFE, **options)

          # Writes, and proves that it can be read.
          def keep(key, value, **options)
            put(key, value, **options)
            raise Lost, "what is written cannot be read" unless seen?(key, value)
          end

          def seen?(key, value) = store.read(key) == value

          # Yields the store of another process, which ends afterwards. Answers are plain data.
          def elsewhere(row = another)
            Bench::Callers.all(1) { [yield(row.open.store)] }.first.first
          end

          # The same row for another process, not opened.
          def another = row.class.new(dir: Dir.pwd, endpoint: row.endpoint, size: row.size)

          def cross_process
            keep("shared", "from the first")
            found = elsewhere do |other|
              other.write("back", "from the second", **LIFE)
              other.read("shared").tap { other.delete("shared") }
            end
            return [false, "a second process reads #{found.inspect}"] unless found == "from the first"

            both = seen?("back", "from the second") && store.read("shared").nil?
            [both, both ? "through #{way}" : "the first process does not see what the second changed"]
          end

          def shared?
            @shared ||= attempt(:cross_process)
            @shared.first == true
          end

          def way
            return "files" unless row.endpoint

            return "a server of yours" if theirs?

            row.endpoint["socket"] ? "a Unix socket" : "TCP on the loopback interface"
          end

          # Yields a contender as the row, not opened, with a directory of its own, and its own server, if it needs one.
          def hosted(name)
            dir = "#{row.directories.first}-#{name}"
            Hosting.for(row.class, dir, size: row.size) do |endpoint, server|
              Dir.mkdir(dir)
              endpoint = endpoint&.merge("dir" => "#{dir}-server")
              yield row.class.new(dir: dir, endpoint: endpoint, size: row.size), server
            end
          ensure
            FileUtils.rm_rf(dir)
          end

          # True if its server is the user's.
          def theirs? = !row.endpoint.nil? && !row.endpoint["private"]

          def solid? = row.class.key.start_with?("solid_cache")
        end
      end

      register("features", Bench::Suite.define("features") do
        title "What each store does"
        command "features", "tests what each store can do: sharing, persistence, expiry, compression", <<~TEXT
          Tests each cell of the published table of Rails cache stores: does a second
          process see what the first wrote, does the store serialize, compress, spread
          over servers. It also tests whether values survive a restart and kill -9 of the
          application and of the server, increments of several processes at once, fork,
          expiry, race_condition_ttl, delete_matched, long keys and the largest value.
          Whether memory or disk limits a store, and evicts: larder-lab capacity.

          Private servers are stopped and killed. A server that you name by a URL is not;
          its cells say so. "unknown": it was tried and gave no answer; "not tested": it
          was not tried. Both have their reasons below the tables.
        TEXT
        question "What does each store do, tested with processes, servers and files of its own?"
        chapter { SuiteReport::FeaturesChapter }
        sessions 1
        copies 1
        proofs 0
        size 64 << 20
        usual { [*Contenders.usual, "larder-redis"] }

        Features::BLOCKS.each do |key, (name, type, questions)|
          about = questions.values.map { |heading, meaning| "#{heading}: #{meaning}" }.join("; ")
          block(key, name, unit: "question", about: about) do
            setup { |scene| scene[:asked] = Features.const_get(type).new(scene) }
            paced { |scene| scene[:asked].answers(questions.keys) }
            questions.each do |question, (heading, _)|
              column(heading, question == :largest ? "bytes" : "text") { |found| found[question.to_s]&.first }
            end
          end
        end
      end)
    end
  end
end
