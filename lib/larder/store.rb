# frozen_string_literal: true

# Loads the parts of ActiveSupport::Cache::LarderStore. See lib/active_support/cache/larder_store.rb for how they are
# put together; each assumes @cache (a Larder::Cache) and the options of ActiveSupport::Cache::Store.

module Larder
  # The parts of the Rails cache store, one concern each.
  module Store
  end
end

require "larder/codecs"
require "larder/store/tree_serializer"
require "larder/store/rails_serializer"
require "larder/store/clock"
require "larder/store/settings"
require "larder/store/instrumentation"
require "larder/store/failsafe"
require "larder/store/keys"
require "larder/store/records"
require "larder/store/entries"
require "larder/store/multi"
require "larder/store/counters"
require "larder/store/delete_matched"
require "larder/store/maintenance"
require "larder/store/fast_path"
