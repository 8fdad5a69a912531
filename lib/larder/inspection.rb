# frozen_string_literal: true

# The parts that the command line and the dashboard share. They find keys, read values without loading them, select
# items to delete, and write figures for people.

require_relative "bytes/cache"

module Larder
  # Looks into a cache file from outside the application. Runs no code of the application.
  module Inspection
  end
end

require_relative "inspection/brief"
require_relative "inspection/item_text"
require_relative "inspection/key_text"
require_relative "inspection/keyspaces"
require_relative "inspection/order"
require_relative "inspection/pattern"
require_relative "inspection/rates"
require_relative "inspection/search"
require_relative "inspection/selections"
require_relative "inspection/size_advice"
require_relative "inspection/statistics"
require_relative "inspection/used_keyspaces"
require_relative "inspection/values/decoder"
require_relative "inspection/watched_file"
require_relative "inspection/words"
