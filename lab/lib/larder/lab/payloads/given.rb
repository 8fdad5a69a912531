# frozen_string_literal: true

require "json"

module Larder
  module Lab
    module Payloads
      # What --payload names: a file, or an expression of Ruby.
      class Given < Payload
        named "given", "your own, by --payload"
        only_on_request

        # Begins an expression.
        EXPRESSION = "ruby:"

        # @param source [String] a path, or "ruby:" and an expression
        def initialize(source)
          super()
          @source = source.to_s
        end

        # @return [Object] of a file its bytes; a file of JSON or of Marshal's bytes is what that says
        def value
          @value ||= @source.start_with?(EXPRESSION) ? evaluated : read
        end

        private

        def packed
          value.is_a?(String) ? value.b : super
        end

        # The user's own words, on the user's own machine.
        def evaluated
          TOPLEVEL_BINDING.eval(@source.delete_prefix(EXPRESSION), "--payload")
        end

        def read
          bytes = File.binread(@source)
          case File.extname(@source)
          when ".json" then JSON.parse(bytes)
          when ".marshal" then Marshal.load(bytes)
          when ".rb" then TOPLEVEL_BINDING.eval(bytes.force_encoding(Encoding::UTF_8), @source)
          else bytes
          end
        end
      end
    end
  end
end
