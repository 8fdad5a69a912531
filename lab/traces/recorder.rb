# frozen_string_literal: true

# Loaded by the demonstration application when demo.rb starts it: records its cache.

require_relative "../lib/larder/lab/record"

ActiveSupport.on_load(:after_initialize) { Larder::Lab.record(ENV.fetch("TRACE"), keyspaces: true) }
