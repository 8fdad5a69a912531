# frozen_string_literal: true

module Larder
  module Lab
    module Payloads
      # The source that --payload names: a file, or an expression of Ruby, which the user runs on his own machine.
      module Given
        # Begins an expression.
        EXPRESSION = "ruby:"

        module_function

        # The value of an expression, of a file of Ruby, of JSON or of Marshal's bytes; the bytes of any other file.
        def value(source)
          return TOPLEVEL_BINDING.eval(source.delete_prefix(EXPRESSION), "--payload") if source.start_with?(EXPRESSION)

          bytes = File.binread(source)
          case File.extname(source)
          when ".json" then JSON.parse(bytes)
          when ".marshal" then Marshal.load(bytes)
          when ".rb" then TOPLEVEL_BINDING.eval(bytes.force_encoding(Encoding::UTF_8), source)
          else bytes
          end
        end
      end

      register("given", lambda do |source|
        value = Given.value(source.to_s)
        Payload.new(value, value.is_a?(String) ? value.b : nil)
      end)
    end
  end
end
