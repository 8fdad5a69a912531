# frozen_string_literal: true

# Shortens a sequence that fails to the shortest one that still fails.

module Differential
  module Shrinking
    MOST_TRIES = 300

    module_function

    # Leaves out half of the steps, quarters, single ones, until no single step can be spared.
    #
    # @param steps [Array<String>]
    # @yieldparam shorter [Array<String>]
    # @yieldreturn [Boolean] does it still fail?
    # @return [Array<String>]
    def shortest(steps)
      size = [steps.size / 2, 1].max
      tries = 0
      loop do
        shorter = without_some(steps, size) { |candidate| (tries += 1) <= MOST_TRIES && yield(candidate) }
        return shorter if tries > MOST_TRIES || (size == 1 && shorter.size == steps.size)

        size = [size / 2, 1].max
        steps = shorter
      end
    end

    def without_some(steps, size)
      at = 0
      while at < steps.size
        shorter = steps[0...at] + (steps[(at + size)..] || [])
        yield(shorter) ? steps = shorter : at += size
      end
      steps
    end
    private_class_method :without_some
  end
end
