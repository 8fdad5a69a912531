# frozen_string_literal: true

require "json"
require_relative "errors"
require_relative "version"
require_relative "document/parts"

module Larder
  module Lab
    # One run as data, which every command returns. All formats, and all commands that read a run again (`compare`,
    # `report`), know this document and nothing of the commands. larder_lab: the version of the lab; command, and
    # command_line: as it was typed; elapsed_seconds: that the run took; environment: facts of the {Environment};
    # chapters: a {Chapter} for each command that took part.
    class Document
      include Part

      # The version is raised whenever a field changes its meaning or goes; fields may be added without.
      SCHEMA = { name: "larder-lab", version: 1 }.freeze

      # The title of a report that has an answer.
      QUESTION = "How much of a request is the cache?"
      # Facts of which another value means another machine, or another Ruby.
      PLACE = %w[cpu cores memory_bytes kernel ruby].freeze
      APART = "Measured on another machine, or with another Ruby, than the first chapter: do not compare these " \
              "figures with those of other chapters."
      private_constant :PLACE, :APART

      # Stands for an answer about sessions that no chapter measured.
      SESSIONS = "Not measured in this run; `larder-lab sessions` measures them."

      # @raise [UsageError] if it is not a report of the lab, or one of another version
      def self.load(path)
        from_h(JSON.parse(File.read(path)))
      rescue SystemCallError => error
        raise UsageError, "#{path}: #{error.message.sub(/ @ .*/, "")}"
      rescue JSON::ParserError, KeyError, NoMethodError, TypeError, ArgumentError
        raise UsageError, "#{path}: not a report of larder-lab; --json FILE of any of its commands writes one"
      rescue UsageError => error
        raise UsageError, "#{path}: #{error.message}"
      end

      # @param hash [Hash{String=>Object}] as {#to_h} made it, after a trip through JSON
      # @raise [UsageError] for another schema or version
      def self.from_h(hash)
        schema = hash.fetch("schema")
        unless schema["name"] == SCHEMA[:name] && schema["version"] == SCHEMA[:version]
          raise UsageError, "schema #{schema["name"]} #{schema["version"]} is not read by this larder-lab; " \
                            "it reads #{SCHEMA[:name]} #{SCHEMA[:version]}"
        end

        new(**hash.transform_keys(&:to_sym).slice(*members))
      end

      # @param documents [Array<Document>] one or more
      # @return [Document] their chapters in this order, with the environment of the first; what was measured elsewhere
      #   says so
      def self.join(documents)
        first, *rest = documents
        return first if rest.empty?

        new(command: documents.map(&:command).uniq.join(", "),
            command_line: documents.map(&:command_line).uniq.join("; "),
            chapters: documents.flat_map { |document| document.chapters_as_seen_from(first.environment) },
            environment: first.environment, elapsed_seconds: documents.sum(&:elapsed_seconds),
            larder_lab: documents.map(&:larder_lab).uniq.join(", "))
      end

      # @param command_line [String, nil] nil: without any options
      def initialize(command:, chapters:, environment:, elapsed_seconds:, larder_lab: VERSION, command_line: nil)
        command_line ||= "larder-lab #{command}"
        environment = environment.transform_keys(&:to_s)
        super
      end

      # @param here [Hash{String=>Object}] an environment
      # @return [Array<Chapter>] with a warning if they were measured in another one
      def chapters_as_seen_from(here)
        return chapters if environment.values_at(*PLACE) == here.values_at(*PLACE)

        place = machine(*environment.values_at("kernel", "ruby"))
        chapters.map do |chapter|
          chapter.dup.tap do |copy|
            copy.facts = [*chapter.facts, "measured on #{place}"]
            copy.warnings = [*chapter.warnings, APART]
          end
        end
      end

      # @param more [Array<String, nil>] facts about it
      # @return [String] "A CPU, 2 cores", and these facts
      def machine(*more)
        cpu, cores = environment.values_at("cpu", "cores")
        [cpu, cores && "#{cores} core#{"s" if cores != 1}", *more].compact.join(", ")
      end

      # @return [Answer, nil] of the first chapter that has one, with a sentence about sessions
      def answer
        found = answering&.answer or return
        measured = chapters.find { |chapter| chapter.key == "published-e" }&.conclusions.to_a.last
        Answer.new(sentences: [*found.sentences, { "about" => "Sessions", "text" => measured || SESSIONS }],
                   chart: found.chart)
      end

      # @return [Chapter, nil] whose answer and warnings the report begins with
      def answering = chapters.find(&:answer)

      # @return [Boolean] whether something was wrong, or nothing could be measured
      def failed? = chapters.any?(&:failed?)

      # @return [Hash{Symbol=>Object}] plain data
      def to_h = { schema: SCHEMA, **super }
    end
  end
end
