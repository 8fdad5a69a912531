# frozen_string_literal: true

# Lists the pages of the application that are requested, and finds the application.

module Larder
  module Lab
    module Sessions
      # The pages of the published comparison.
      module Pages
        # key: of its blocks; path; new: whether each request begins a session, or brings one; note: what is to be known
        # of the page
        Page = Struct.new(:key, :path, :new, :note)

        # As published, in its order.
        ALL = [
          ["empty", "/empty/index", true, "a line of text, new session"],
          ["welcome", "/welcome/index", true, "a page without a query, new session"],
          ["index", "/rezept/index", false, "its body cached"],
          ["name", "/rezept/myknzlpzl", false, "its body cached"],
          ["show", "/rezept/show/713", false, "seven queries"],
          ["category", "/rezept/cat/Hauptspeise", false, "a LIKE over text"],
          ["category_page", "/rezept/cat/Hauptspeise?page=5", false, "a LIKE over text"],
          ["letter", "/rezept/letter/G", false, "by an index"]
        ].map { |fields| Page.new(*fields).freeze }.freeze

        # What a checkout has.
        APPLICATION = File.expand_path("../../../../../examples/recipes", __dir__)
        MISSING = "the application that pages are asked of is not there: a checkout of Larder has it in " \
                  "examples/recipes, the gem larder-lab does not"

        # @return [Boolean]
        def self.application? = File.exist?(File.join(APPLICATION, "config/environment.rb"))
      end
    end
  end
end
