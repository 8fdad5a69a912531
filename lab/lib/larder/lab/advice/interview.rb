# frozen_string_literal: true

# Asks in a terminal for what was not given as an option.

require_relative "question"

module Larder
  module Lab
    module Advice
      # Asks one question a line; Enter takes what stands in brackets.
      class Interview
        # @param input [IO]
        # @param terminal [Terminal]
        def initialize(input, terminal)
          @input = input
          @terminal = terminal
        end

        # @param question [Question] gets the answers
        # @yieldparam field [Field]
        # @yieldparam text [String]
        # @yieldreturn [void] raises UsageError at what is wrong beyond its form
        # @return [void]
        def run(question, &check)
          open = Fields::ALL.reject { |field| question.given?(field.key) }
          return if open.empty?

          @terminal.puts("Enter takes what stands in brackets; Ctrl-D takes all the rest.")
          open.each { |field| break unless !field.apt_for?(question) || ask(field, question, &check) }
          @terminal.puts
        end

        private

        # @return [Boolean] may more be asked?
        def ask(field, question)
          loop do
            text = reply(field, question)
            return !text.nil? if text.nil? || text.empty?

            begin
              yield(field, text) if block_given?
              question.answer(field, text)
              return true
            rescue UsageError => error
              @terminal.puts("  #{error.message.delete_prefix("#{field.option} ")}")
            end
          end
        end

        def reply(field, question)
          choices = " (yes or no)" if field.yes_or_no?
          @terminal.print("#{field.ask}#{choices} [#{question.default(field.key)}] ")
          text = @input.gets&.strip
          @terminal.puts unless text
          text
        end
      end
    end
  end
end
