# frozen_string_literal: true

# Tests of others that Larder is not to pass, each with its reason. They run all the same: one that passes has to leave
# the list.

require "minitest"
require "yaml"

# For a class of Minitest's tests, which says in #left_out why a test is left out, or nil.
module LeftOut
  # @param path [String] of the list
  # @return [Hash{String => Hash{String => String}}] reasons by name, by kind of what is left out
  def self.read(path)
    YAML.load_file(path, aliases: true)
  end

  # As Minitest's, and: what is left out must fail, and counts as skipped.
  def run
    result = super
    reason = left_out
    return result unless reason

    told = if result.failures.empty? then Minitest::Assertion.new("#{name} passes: take it off left_out.yml")
           else Minitest::Skip.new(reason)
           end
    result.failures.replace([told])
    result
  end
end
