# frozen_string_literal: true

# The stages on which LarderStore is compared with Rails' own stores: the same methods for each of them, and
# subclasses, definitions, stubs and copies of it that come and go.

require "support/differential/stage"
require "active_support/cache/file_store"
require "active_support/cache/memory_store"

module Differential
  # What callers of a store can see: answers, exceptions and notifications.
  class RailsStage < Stage
    STORES = { memory: ActiveSupport::Cache::MemoryStore, file: ActiveSupport::Cache::FileStore,
               larder: ActiveSupport::Cache::LarderStore }.freeze

    # What a class changes of its store, by name.
    OVERRIDES = {
      expanded_key: "private def expanded_key(key) = super&.then { |expanded| 'over/' + expanded }",
      expanded_version: "private def expanded_version(key) = super || 'of-class'",
      normalize_version: "private def normalize_version(key, options = nil) = super&.then { |version| 'n' + version }",
      namespace_key: "private def namespace_key(key, options = nil) = 'spaced-' + super",
      merged_options: "private def merged_options(options) = super.merge(expires_in: 300)",
      read: "def read(name, options = nil) = super.then { |value| value.is_a?(String) ? value + '!' : value }",
      write: "def write(name, value, options = nil) = super(name, value.nil? ? :none : value, options)",
      fetch: "def fetch(name, options = nil, &block) = super(name, (options || {}).merge(skip_nil: true), &block)",
      delete: "def delete(name, options = nil) = super && true",
      exist: "def exist?(name, options = nil) = super ? true : false",
      read_entry: "private def read_entry(key, **options) = super",
      write_entry: "private def write_entry(key, entry, **options) = entry.value == false ? false : super",
      delete_entry: "private def delete_entry(key, **options) = super"
    }.freeze

    # Classes that stay. A tenant's options are set anew, after the store has seen others.
    TENANT = '@options = @options.merge(namespace: "tenant")'
    CLASSES = { "plain" => "", "tenant" => "def initialize(...) = (super; #{TENANT})",
                "keys" => OVERRIDES[:expanded_key], "versions" => OVERRIDES[:expanded_version],
                "writer" => OVERRIDES[:write], "changing" => "" }.freeze

    # @param kind [Symbol] a key of STORES
    # @param path [String] a directory of its own
    # @param setup [String] source of a Hash, the store's options
    # @param name [String, nil] a key of CLASSES; nil: no subclass
    def initialize(kind, path, setup, name)
      @kind, @path = kind, path
      @class = name ? self.class.subclass(kind, name) : STORES.fetch(kind)
      super(setup) { |options| make(options) }
      @copies = []
    end

    # One for each kind and name: LarderStore can tell no more apart. It has a name, which MemoryStore asks
    # for from Rails 8.1 on (Strategy::LocalCache).
    def self.subclass(kind, name)
      constant = "#{kind}_#{name}".camelize
      return const_get(constant, false) if const_defined?(constant, false)

      const_set(constant, Class.new(STORES.fetch(kind))).tap { |store| store.class_eval(CLASSES.fetch(name)) }
    end

    # @return [void]
    def close
      @store.cache.close if @kind == :larder
    end

    private

    def make(options)
      case @kind
      when :memory then @class.new(options)
      when :file then @class.new(@path, **options, compress: options.fetch(:compress, false)) # as the others do
      else @class.new(File.join(@path, "test.larder"), { size: 4 << 20, **options })
      end
    end

    # ---- words of the steps ----

    def store
      @copies.last || @store
    end

    # A copy with options of its own, as of a tenant.
    def copy(**options)
      copy = store.dup
      copy.instance_variable_set(:@options, store.options.merge(options))
      @copies << copy
      nil
    end

    def back
      @copies.pop
      nil
    end

    # A method of the class, or of the object alone, from now on.
    def define(name)
      return unless @class == self.class.subclass(@kind, "changing")

      @class.class_eval(OVERRIDES.fetch(name))
      nil
    end

    def undefine
      return unless @class == self.class.subclass(@kind, "changing")

      defined = @class.instance_methods(false) + @class.private_instance_methods(false)
      defined.each { |name| @class.remove_method(name) }
      nil
    end

    def stub(name)
      store.singleton_class.class_eval(OVERRIDES.fetch(name))
      nil
    end

    # ---- what is recorded ----

    def look_at(step)
      super.slice(:result, :events)
    end

    def announced(payload)
      super(payload.except(:store).merge(payload.slice(:key, :hits).transform_values { |keys| names_of(keys) }))
    end

    # FileStore announces the files that keys became, in texts of its own; others may announce the caller's.
    def names_of(key)
      case key
      when Array then key.map { |one| names_of(one) }
      when Hash then key.transform_keys { |one| names_of(one) }
      when String
        String.new(@kind == :file && key.start_with?("#{@path}/") ? @store.__send__(:file_path_key, key) : key)
      else key
      end
    end

    def put_back
      super
      undefine
    end
  end
end
