# frozen_string_literal: true

# Puts questions to a store, and makes what they need: other processes that use it, and servers that may be killed.

require "fileutils"
require "timeout"
require_relative "../../bench/callers"
require_relative "../../clock"
require_relative "../../hosting"

module Larder
  module Lab
    module Suites
      module Features
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
          private_constant :PATIENCE, :PASSING

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
    end
  end
end
