# frozen_string_literal: true

# For tests on gems that only the first stack has.
module OptionalGem
  # @param libraries [Array<String>] as they are required
  # @return [String, nil] why they cannot be used
  def self.missing(*libraries)
    libraries.each { |library| require library }
    nil
  rescue LoadError => error
    "#{error.path || error.message} is not in this stack's Gemfile"
  end
end
