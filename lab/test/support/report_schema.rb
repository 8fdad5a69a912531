# frozen_string_literal: true

require "json_schemer"

# The published shape of a report, and whether one has it.
module ReportSchema
  FILE = File.expand_path("../../schema/larder-lab-1.json", __dir__)

  module_function

  # @param document [Hash] read from JSON
  # @return [Array<String>] what is wrong with it
  def errors(document)
    @schema ||= JSONSchemer.schema(JSON.parse(File.read(FILE)))
    @schema.validate(document).map { |error| error.fetch("error") }.first(5)
  end
end
