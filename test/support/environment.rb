# frozen_string_literal: true

# Variables of this process for the length of a block.
module Environment
  # @param variables [Hash{String => String, nil}] nil: not set
  # @return [Object] the block's value
  def with_environment(variables)
    before = ENV.to_h
    ENV.update(variables)
    yield
  ensure
    ENV.replace(before)
  end
end
