# frozen_string_literal: true

# Lists the pages of the application that are requested, and finds the application.

require_relative "../errors"

module Larder
  module Lab
    module Sessions
      # The pages of the published comparison.
      module Pages
        # path; new: whether each request begins a session, or brings one; note: what is to be known of the page
        Page = Struct.new(:path, :new, :note, keyword_init: true)

        # As published, in its order.
        ALL = [
          ["/empty/index", true, "a line of text, new session"],
          ["/welcome/index", true, "a page without a query, new session"],
          ["/rezept/index", false, "its body cached"],
          ["/rezept/myknzlpzl", false, "its body cached"],
          ["/rezept/show/713", false, "seven queries"],
          ["/rezept/cat/Hauptspeise", false, "a LIKE over text"],
          ["/rezept/cat/Hauptspeise?page=5", false, "a LIKE over text"],
          ["/rezept/letter/G", false, "by an index"]
        ].map { |path, new, note| Page.new(path: path, new: new, note: note).freeze }.freeze

        # Those that are asked for over HTTP: the one whose session is new, and the one that does least besides.
        SERVED = ["/empty/index", "/rezept/index"].freeze

        # What a checkout has.
        APPLICATION = File.expand_path("../../../../../examples/recipes", __dir__)
        MISSING = "the application that pages are asked of is not there: a checkout of Larder has it in " \
                  "examples/recipes, the gem larder-lab does not"

        module_function

        # @return [Boolean]
        def application?
          File.exist?(File.join(APPLICATION, "config/environment.rb"))
        end
      end
    end
  end
end
