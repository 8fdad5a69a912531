# frozen_string_literal: true

# Loads the byte cache: Larder::Cache, its errors and its version. Codecs are loaded when one of them is named, and with
# all but compressors ActiveSupport. The Rails store is loaded by ActiveSupport when `:larder_store` is configured, and
# so is that of sessions, which Rails looks for among those it knows. Rails' configuration is watched from the start.

require "shellwords"

require "larder/version"
require "larder/bytes/errors"
require "larder/bytes/options"
require "larder/bytes/application"
require "larder/bytes/obstacle"
require "larder/bytes/web_request"
require "larder/larder"
require "larder/bytes/cache"

# A cache in one file, shared by all processes of a machine.
module Larder
  autoload :Serializers, "larder/codecs"
  autoload :Compressors, "larder/codecs/compressors"
  autoload :Cacheable, "larder/codecs"
  autoload :Coder, "larder/codecs/coder"
  autoload :Dictionary, "larder/codecs/dictionary"
  autoload :Dictionaries, "larder/codecs/dictionaries"
  autoload :Doctor, "larder/bytes/doctor"
  autoload :Size, "larder/bytes/size"
  autoload :Tagging, "larder/bytes/tagging"
  autoload :Usage, "larder/bytes/usage"

  # Deletes the entries of tags in any Rails store. One that is not Larder's knows no tags and is cleared, so an
  # application may use it in tests or in development.
  #
  # @param tags [Array<String, Symbol, Class, Object>] as of `tags:`
  # @param cache [ActiveSupport::Cache::Store] the default is the application's
  # @return [true, Object, nil] what `delete_tagged` or `clear` answers
  # @raise [ArgumentError] something is no tag, or no store
  # @example
  #   Larder.delete_tagged("front page", cache: ActiveSupport::Cache::MemoryStore.new)
  def self.delete_tagged(*tags, cache: Application.cache)
    Tagging.delete(tags, cache)
  end

  # Lets config.session_store :larder_store be found.
  #
  # @api private
  def self.announce_session_store
    return unless defined?(ActionDispatch::Session)

    ActionDispatch::Session.autoload :LarderStore, "action_dispatch/middleware/session/larder_store"
  end
end

require "larder/rails/railtie" if defined?(Rails::Railtie)

Larder.announce_session_store
