# frozen_string_literal: true

# Breaks a class on purpose, by the name of a bug.

module SessionProof
  # For modules with a constant ALL: name => [class or module, the module that is prepended to it].
  module NamedFaults
    # @return [Array<String>]
    def names
      const_get(:ALL).keys
    end

    # @param name [String]
    # @return [void]
    def apply(name)
      broken, bug = const_get(:ALL).fetch(name) do
        raise ArgumentError, "unknown fault #{name}; known: #{names.join(", ")}"
      end
      broken.prepend(bug)
    end
  end
end
