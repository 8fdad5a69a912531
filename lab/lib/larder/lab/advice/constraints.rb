# frozen_string_literal: true

# Names the reasons against a choice, however fast it is.

require_relative "../reports/figures"
require_relative "model"
require_relative "question"

module Larder
  module Lab
    module Advice
      # Judges choices under the circumstances of a question.
      class Constraints
        # `about` is what of a choice it concerns; a `final` one excludes the choice, others put it behind.
        Objection = Struct.new(:about, :reason, :final)

        def initialize(question, model)
          @question = question
          @model = model
          @found = {}
        end

        def against(choice)
          @found[choice] ||= begin
            final = [shared(choice), lost(choice), room(choice)].compact.first
            final ? [final] : [full(choice), slow(choice)].compact
          end
        end

        private

        def shared(choice)
          seen_by = choice.facts.seen_by
          return if @question.shared_by == "nobody" || choice.facts.remote?
          return Objection.new(choice.store, "each process has entries of its own", true) if seen_by == "nobody"
          return unless @question.several?

          Objection.new(choice.store, "each of the #{@question.hosts} machines would have entries of its own, and " \
                                      "not see the writes and deletes of the others", true)
        end

        def lost(choice)
          wanted, survived = [@question.survive, choice.facts.survives].map { |event| Question::EVENTS.index(event) }
          return if survived >= wanted

          server = " of the server's machine, unless it also writes to a disk" if choice.facts.remote?
          Objection.new(choice.store, "it is empty after a #{@question.survive}#{server}", true)
        end

        def room(choice)
          limit = { memory: @question.memory, disk: @question.disk }[choice.facts.room]
          return unless beyond?(choice, limit)

          room = "#{Reports::Figures.bytes(limit)} of #{choice.facts.room}"
          Objection.new(choice.to_s, "all that is cached does not fit into #{room}", true)
        end

        def full(choice)
          Objection.new("file", "it grows until its entries are removed by hand", false) if choice.store == "file"
        end

        def slow(choice)
          return unless choice.facts.room == :disk && beyond?(choice, @question.memory)

          Objection.new(choice.to_s, "entries that do not fit into memory are read from the disk, which was not " \
                                     "measured", false)
        end

        def beyond?(choice, limit) = limit && @model.needed(choice, @question) > limit
      end
    end
  end
end
