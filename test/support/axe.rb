# frozen_string_literal: true

# The rules of axe-core for pages that all people can use, run in a browser.

# @see https://github.com/dequelabs/axe-core
module Axe
  PATH = "node_modules/axe-core/axe.min.js"
  # Also what is good practice and not a criterion of WCAG.
  RUN = <<~SCRIPT
    axe.run(document, { resultTypes: ["violations"], preload: false }).then((report) => ({
      passed: report.passes.length,
      violations: report.violations.map((rule) =>
        `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`)
    }))
  SCRIPT
  private_constant :PATH, :RUN

  module_function

  # @return [String, nil] why it cannot run here (nil: it can)
  def missing
    "the gem axe-core-api is not in this Gemfile" unless directory
  end

  # @param browser [House::Browser] with a page
  # @return [Hash{String => Object}] "passed": the number of rules, "violations": of each, its text
  def run(browser)
    @script ||= File.read(File.join(directory, PATH))
    browser.evaluate("#{@script}; 0")
    browser.evaluate(RUN)
  end

  def directory
    Gem.loaded_specs["axe-core-api"]&.full_gem_path
  end
end
