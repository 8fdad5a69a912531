# frozen_string_literal: true

# Runs the own tests of an application that are written for RSpec.

require_relative "suite"

module Foreign
  # Files of RSpec.
  class RspecSuite < Suite
    RESULTS = { "passed" => "passed", "failed" => "failed", "pending" => "skipped" }.freeze

    # @param file [String] as RSpec's JSON formatter writes it
    # @return [Hash{String => Hash}]
    def self.read(file)
      JSON.parse(File.read(file)).fetch("examples").to_h do |example|
        message = example.dig("exception", "message").to_s
        [example.fetch("id"), { "result" => RESULTS.fetch(example.fetch("status")), "message" => message[0, 2000] }]
      end
    end

    private

    def command(files, only, results)
      ["bundle", "exec", "rspec", "--order", "defined", "--seed", SEED, "--format", "progress", "--format", "json",
       "--out", results, *(only || files)]
    end
  end
end
