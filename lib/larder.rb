# frozen_string_literal: true

# Loads the byte cache: Larder::Cache, its errors and its version. Codecs, which need ActiveSupport, are loaded when one
# of them is named; the Rails store is loaded by ActiveSupport when `:larder_store` is configured, and so is that of
# sessions, which Rails looks for among those it knows. Rails' configuration is watched from the beginning.

require "shellwords"

require "larder/version"
require "larder/errors"
require "larder/options"
require "larder/application"
require "larder/obstacle"
require "larder/larder"
require "larder/cache"

# A cache in one file, shared by all processes of a machine.
module Larder
  autoload :Serializers, "larder/codecs"
  autoload :Compressors, "larder/codecs"
  autoload :Cacheable, "larder/codecs"
  autoload :Coder, "larder/coder"
  autoload :Dictionary, "larder/dictionary"
  autoload :Dictionaries, "larder/dictionaries"
  autoload :Doctor, "larder/doctor"
  autoload :Size, "larder/size"
  autoload :Tagging, "larder/tagging"
end

require "larder/railtie" if defined?(Rails::Railtie)

if defined?(ActionDispatch::Session)
  ActionDispatch::Session.autoload :LarderStore, "action_dispatch/middleware/session/larder_store"
end
