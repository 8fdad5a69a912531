# frozen_string_literal: true

# Keeps the finished sessions of a run in a file, so that a run that was stopped can be continued.

require "json"
require "tempfile"
require_relative "../errors"
require_relative "samples"

module Larder
  module Lab
    module Bench
      # A file of JSON lines. The first line describes the run, each other line is a finished session with its turns.
      # The file is made when the first session has finished, and only its user can read it.
      # @api private
      class Journal
        # A finished session of a suite: its turns, and what was known of the rows at its end, see {Conductor}.
        Session = Struct.new(:suite, :number, :turns, :absent, :skipped, :recorded, keyword_init: true) do
          def self.from_h(hash)
            suite, number, turns, absent, skipped, recorded = hash.fetch_values(*members.map(&:to_s))
            absent.transform_values! do |row|
              Absence.new(state: row.fetch("state").to_sym, reason: row.fetch("reason"), block: row["block"])
            end
            recorded.each_value { |facts| facts["server"]&.transform_keys!(&:to_sym) }
            new(suite: suite, number: Integer(number), turns: Samples.from(turns).to_a, absent: absent,
                skipped: skipped.to_h, recorded: recorded)
          end

          def to_h
            super.merge(turns: turns.map(&:to_h), absent: absent.transform_values(&:to_h), skipped: skipped.to_a)
          end
        end

        # Reads the file of a stopped run, to which further sessions are added. A last line that was cut off is removed.
        # Raises UsageError if it is another file, is damaged, or is in use.
        def self.open(path)
          file = File.open(path, "r+", encoding: "UTF-8")
          raise UsageError, "--continue #{path}: another run has it open; wait for its end" unless
            file.flock(File::LOCK_EX | File::LOCK_NB)

          run, *sessions = whole_lines(file).map { |line| JSON.parse(line) }
          new(Hash(run.fetch("run")), file: file, sessions: sessions.map { |session| Session.from_h(session) })
        rescue SystemCallError => error
          raise UsageError, "--continue #{path}: #{error.message.sub(/ @ .*/, "")}"
        rescue JSON::ParserError, KeyError, NoMethodError, TypeError, ArgumentError
          file&.close
          raise UsageError, "--continue #{path}: this is not the file of a stopped run, or it is damaged; " \
                            "start a new run without --continue"
        end

        def self.whole_lines(file)
          lines = file.readlines
          file.truncate(file.pos - lines.pop.bytesize) unless lines.empty? || lines.last.end_with?("\n")
          file.seek(0, IO::SEEK_END)
          lines
        end
        private_class_method :whole_lines

        # The run, as it was given to {#initialize}.
        attr_reader :run

        # `run` is plain data that describes the run. The file, made when it is needed, has these sessions.
        def initialize(run, file: nil, sessions: [])
          @run = run
          @file = file
          @sessions = sessions
        end

        # nil before a session has finished.
        def path = @file&.path

        # The finished sessions of a suite.
        def of(suite) = @sessions.select { |session| session.suite == suite }

        # Raises SystemCallError if it cannot be written.
        def add(session)
          lines = [({ run: run } unless @file), session.to_h].compact.map { |line| "#{JSON.generate(line)}\n" }
          file.write(lines.join)
        end

        def remove
          File.unlink(path) if path
        end

        private

        def file
          @file ||= Tempfile.create(["larder-lab-", ".jsonl"]).tap do |file|
            file.sync = true
            file.flock(File::LOCK_EX)
          end
        end
      end
    end
  end
end
