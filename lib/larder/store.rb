# frozen_string_literal: true

# The Rails store: the calls of applications, and the levels that answer them.

require "larder/codecs"
require "larder/codecs/tree_serializer"
require "larder/store/rails_serializer"
require "larder/store/clock"
require "larder/store/unknown_options"
require "larder/store/options"
require "larder/store/settings"
require "larder/store/failsafe"
require "larder/store/records"
require "larder/store/local_level"
require "larder/store/two_levels"
require "larder/remote"
require "larder/remote/backplane"
require "larder/store/instrumentation"
require "larder/store/keys"
require "larder/store/entries"
require "larder/store/multi"
require "larder/store/counters"
require "larder/store/compare_and_swap"
require "larder/store/deletion"
require "larder/store/maintenance"
require "larder/store/native_calls"
require "larder/store/fast_path"

module Larder
  # The layer between ActiveSupport::Cache::LarderStore and Larder::Cache.
  module Store
  end
end
