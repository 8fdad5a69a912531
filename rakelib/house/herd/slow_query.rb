# frozen_string_literal: true

# Makes a query of the recipes application slow, as in a large database, and counts how often it runs. bin/demo --herd
# has the application require this file.

# The query of the page /rezept/index.
module SlowQuery
  COUNT = ENV.fetch("HERD_COUNT")
  SECONDS = Float(ENV.fetch("HERD_SECONDS"))

  # @return [Hash{String => Integer}] as Recipe.letters
  def letters
    File.write(COUNT, ".", mode: "a") # one byte for each run
    sleep(SECONDS)
    super
  end
end

ActiveSupport.on_load(:after_initialize) { Recipe.singleton_class.prepend(SlowQuery) }
