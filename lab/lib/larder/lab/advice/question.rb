# frozen_string_literal: true

# Keeps the question of an advice: the given answers, and the defaults of all others.

require_relative "fields"

module Larder
  module Lab
    # Which store, serializer and compressor to take: from a question to a report.
    module Advice
      # The circumstances of the one who asks. Each {Field} is a method.
      class Question
        Fields::ALL.each { |field| define_method(field.key) { fetch(field.key) } }

        # @param answers [Hash{Symbol=>String}] as typed, by field
        def initialize(answers = {})
          @texts = {}
          @values = {}
          answers.each { |key, text| answer(Fields::ALL.find { |field| field.key == key }, text) }
        end

        # @param field [Field]
        # @param text [String]
        # @return [void]
        # @raise [UsageError] naming the offender and the forms
        def answer(field, text)
          @values[field.key] = field.parse.call(text, field.option)
          @texts[field.key] = text
        end

        # @param key [Symbol]
        # @return [Boolean] was it said, not assumed?
        def given?(key)
          @texts.key?(key)
        end

        # @param key [Symbol]
        # @return [String] as it was typed
        def said(key)
          @texts.fetch(key) { default(key) }
        end

        # @param key [Symbol]
        # @return [String] what is taken where nobody says
        def default(key)
          field(key).default_for(self)
        end

        # The same circumstances but for some.
        # @param changes [Hash{Symbol=>String}]
        # @return [Question]
        def with(**changes)
          Question.new(@texts.merge(changes))
        end

        # The time of a round trip, as the mean of the machines sees it: with several regions the server is near to one
        # of them.
        # @param local [Float] seconds of a round trip on one host
        # @return [Float] seconds
        def mean_rtt(local)
          ((rtt || local) + (region_rtt * (regions - 1))) / regions
        end

        # @return [Array<Field>] that were not said and matter
        def assumed
          Fields::ALL.select { |field| !given?(field.key) && field.apt_for?(self) }
        end

        private

        def field(key)
          Fields::ALL.find { |field| field.key == key } || raise(ArgumentError, "no field #{key}")
        end

        def fetch(key)
          @values.fetch(key) { field(key).parse.call(default(key), field(key).option) }
        end
      end
    end
  end
end
