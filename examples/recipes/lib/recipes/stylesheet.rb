# frozen_string_literal: true

# Serves the style sheet, which is in public/.

require "digest"

module Recipes
  # One file, read once in production, as a Rack application. Its address changes with it, so that browsers keep it.
  class Stylesheet
    # @param path [#to_s] of the file
    def initialize(path)
      @body = File.binread(path.to_s)
      @version = Digest::SHA256.hexdigest(@body)[0, 8]
    end

    # @return [String] changes when the file does
    attr_reader :version

    # @param _env [Hash]
    # @return [Array] a Rack response
    def call(_env)
      headers = { "content-type" => "text/css; charset=utf-8", "cache-control" => "public, max-age=31536000",
                  "x-content-type-options" => "nosniff" }
      [200, headers, [@body]]
    end
  end
end
