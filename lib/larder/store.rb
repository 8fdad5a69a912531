# frozen_string_literal: true

# The Rails store: the modules that it is made of, a file of lib/larder/store/ for each. A later one overrides an
# earlier one, and ActiveSupport::Cache::Store below all of them.

require "larder/codecs"
require "larder/store/tree_serializer"
require "larder/store/rails_serializer"
require "larder/store/clock"
require "larder/store/unknown_options"
require "larder/store/options"
require "larder/store/settings"
require "larder/store/instrumentation"
require "larder/store/failsafe"
require "larder/store/keys"
require "larder/store/records"
require "larder/store/entries"
require "larder/store/multi"
require "larder/store/early_refresh"
require "larder/store/tags"
require "larder/store/single_flight"
require "larder/store/stale_serving"
require "larder/store/stale_multi"
require "larder/store/soft_timeout"
require "larder/store/counters"
require "larder/store/compare_and_swap"
require "larder/store/delete_matched"
require "larder/store/maintenance"
require "larder/store/remote"
require "larder/store/backplane"
require "larder/store/copies"
require "larder/store/remote_reads"
require "larder/store/remote_changes"
require "larder/store/remote_tags"
require "larder/store/remote_flight"
require "larder/store/remote_back_off"
require "larder/store/fast_path"

module Larder
  # What ActiveSupport::Cache::LarderStore does beside its construction. Public methods are those of
  # ActiveSupport::Cache::Store wherever it has them: Rails decides what is read, written, logged and instrumented, the
  # modules decide how that is done with a Larder::Cache. They use the instance variables that LarderStore sets.
  module Store
    include Instrumentation
    include Failsafe
    include Options
    include Clock
    include Keys
    include Entries
    include Multi
    include EarlyRefresh
    include Tags
    include SingleFlight
    include StaleServing
    include StaleMulti
    include SoftTimeout
    include Counters
    include CompareAndSwap
    include DeleteMatched
    include Maintenance
    include RemoteTags
    include RemoteFlight
    include RemoteBackOff
    include Copies
    include RemoteReads
    include RemoteChanges
    include FastPath
  end
end
