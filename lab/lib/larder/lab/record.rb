# frozen_string_literal: true

# Records what an application does with its cache. An application requires this file alone; the rest of the lab is not
# loaded.

require_relative "record/recorder"

module Larder
  module Lab
    # Records the calls of a cache of Rails to a file, until the file or the time is at its limit. No key and no value
    # is written, see {Record::Lines}. Processes that are forked afterwards record to the same file.
    #
    # @param path [String] of the file; calls are appended
    # @param store [ActiveSupport::Cache::Store, nil] whose calls are recorded and whose values' sizes are looked up;
    #   nil: Rails.cache, or outside of Rails the calls of all stores, without sizes
    # @param keyspaces [Boolean] whether the first parts of keys are written, too
    # @param max_bytes [Integer] of the file
    # @param seconds [Numeric] after which recording ends
    # @raise [ArgumentError] naming the argument that cannot be used
    # @example
    #   require "larder/lab/record"
    #   Larder::Lab.record("log/cache.trace")
    def self.record(path, store: nil, keyspaces: false, max_bytes: 64 << 20, seconds: 3600)
      store ||= ::Rails.cache if defined?(::Rails.cache)
      Record::Recorder.new(path, store, keyspaces: keyspaces, max_bytes: max_bytes, seconds: seconds).tap(&:start)
    end
  end
end
