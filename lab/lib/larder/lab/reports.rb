# frozen_string_literal: true

module Larder
  module Lab
    # Forms of a {Document}. Each answers `#to_s`: {Text} for a terminal, {Json} with all that was measured, {Markdown}
    # for an issue, {Html} for a browser. A new one is one file in reports/, a line here and one in
    # {Commands::Command::FORMS}.
    module Reports
      # Answers the class of a form.
      # @param form [String] of {Commands::Command::FORMS}
      # @return [Class]
      def self.of(form) = { "json" => Json, "markdown" => Markdown, "html" => Html }.fetch(form)
    end
  end
end

require_relative "reports/text"
require_relative "reports/json"
require_relative "reports/markdown"
require_relative "reports/html"
