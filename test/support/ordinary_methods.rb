# frozen_string_literal: true

require "active_support/cache"
require "active_support/cache/larder_store"

# The methods of Ruby that answer a call which the fast path does not.
module OrdinaryMethods
  # @param name [Symbol] as fetch
  # @return [UnboundMethod] of Larder where it has one that answers alone, otherwise of Rails
  def self.[](name)
    entries = Larder::Store::Entries
    (entries.method_defined?(name) ? entries : ActiveSupport::Cache::Store).instance_method(name)
  end
end
