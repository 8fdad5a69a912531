# frozen_string_literal: true

# A user's visit: steps by weight, chosen at random.

module Foreign
  # The base of the visits of an application. Subclasses have STEPS, a Hash of methods and weights, and #sign_in.
  class Visits
    # @param pair [Pair]
    # @param number [Integer] of the user, from 1 on
    # @param pause [Numeric] seconds to wait after each step
    def initialize(pair, number, pause: 0)
      @pair = pair
      @number = number
      @pause = pause
      @bag = self.class::STEPS.flat_map { |step, weight| [step] * weight }
    end

    # @yieldreturn [Boolean] whether to go on
    # @return [void]
    def browse
      sign_in
      while yield
        public_send(pick(@bag))
        sleep(@pause)
      end
    end

    private

    attr_reader :pair, :number

    def get(path)
      pair.get(path)
    end

    def post(path, form)
      pair.post(path, form)
    end

    def change(&)
      pair.change(&)
    end

    def pick(array)
      array[pair.random.rand(array.size)]
    end

    def chance(of)
      pair.random.rand(of).zero?
    end
  end
end
