# frozen_string_literal: true

require_relative "../environment"
require_relative "../errors"
require_relative "../units"

module Larder
  module Lab
    module Advice
      # The circumstances of an advice, named by the user or usual. Each of {FIELDS} is a method.
      class Question
        WHO = %w[hosts processes nobody].freeze
        # Worse and worse, what can happen to a store.
        EVENTS = %w[nothing restart crash].freeze

        # `default` is a text, or a proc that answers one for a question; `parse` makes a value of a text and the name
        # of the option. `help` says what the default is where that is a proc.
        Field = Struct.new(:key, :flag, :default, :help, :parse, :words) do
          def option = flag[/--[a-z-]+/]
        end

        refuse = ->(text, option, forms) { raise UsageError, "#{option} #{text}: #{forms}" }
        number = lambda do |text, option|
          found = Float(text, exception: false)
          found&.finite? && found >= 0 ? found : refuse[text, option, "a number, such as 20 or 0.5"]
        end
        whole = lambda do |text, option|
          found = Integer(text, 10, exception: false)
          found&.positive? ? found : refuse[text, option, "a whole number from 1 on"]
        end
        share = lambda do |text, option|
          found = Float(text.delete_suffix("%"), exception: false)
          found /= 100 if found && (text.end_with?("%") || found > 1)
          found && (0.0..1.0).cover?(found) ? found : refuse[text, option, "a share, such as 90%"]
        end
        one_of = lambda do |names|
          ->(text, option) { names.include?(text) ? text : refuse[text, option, "one of #{names.join(", ")}"] }
        end
        room = ->(text, option) { Units.size(text, option) unless text == "any" }
        several = ->(one, more) { ->(question) { question.hosts > 1 ? more : one } }

        FIELDS = [
          [:reads, "--reads N", "10", nil, number, "reads for each write"],
          [:hosts, "--hosts N", "1", nil, whole, "machines that run the application"],
          [:shared_by, "--shared-by WHO", several["processes", "hosts"], "hosts if several", one_of[WHO],
           WHO.join(", ")],
          [:rtt, "--rtt TIME", several["0", "0.5ms"], "0; of several hosts 0.5ms", Units.method(:duration),
           "round trip that the network adds"],
          [:bandwidth, "--bandwidth BITS", several["none", "1gbit"], "none; of several hosts 1gbit",
           Units.method(:bandwidth), "of its connection"],
          [:hit_ratio, "--hit-ratio SHARE", "90%", nil, share, "reads that a copy on the machine answers"],
          [:stale, "--stale TIME", "5s", nil, Units.method(:duration), "age of a value that other machines may read"],
          [:size, "--size BYTES", "1gb", nil, Units.method(:size), "all that is cached, before compression"],
          [:memory, "--memory BYTES", ->(_) { "#{(Environment.memory_bytes || 8e9).to_i / 2_000_000}mb" },
           "half of this machine", room, "that a cache may take"],
          [:disk, "--disk BYTES", "any", nil, room, "that it may take"],
          [:survive, "--survive WHAT", "nothing", nil, one_of[EVENTS],
           "restart (of the application), crash (of a machine)"]
        ].map { |fields| Field.new(*fields) }.freeze

        FIELDS.each { |field| define_method(field.key) { value(field) } }

        # Texts as typed, by field. A wrong one is a UsageError.
        def initialize(texts = {})
          @texts = texts
          @values = {}
          FIELDS.each { |field| value(field) if texts.key?(field.key) }
        end

        # @return [String] as it was typed, or the default
        def said(key)
          default = FIELDS.find { |field| field.key == key }.default
          @texts.fetch(key) { default.respond_to?(:call) ? default.call(self) : default }
        end

        # @return [Array<String>] options that were not given, with their defaults
        def assumed
          FIELDS.reject { |field| @texts.key?(field.key) }.map { |field| "#{field.option} #{said(field.key)}" }
        end

        def several? = hosts > 1 && shared_by == "hosts"

        private

        def value(field)
          @values.fetch(field.key) { @values[field.key] = field.parse.call(said(field.key), field.option) }
        end
      end
    end
  end
end
