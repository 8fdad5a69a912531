# frozen_string_literal: true

# Prints, as JSON, the sources of the Rails methods that the fast path replaces; their names are listed in
# lib/larder/store/fast_path.rb. Rails is that of the current Gemfile.
#
# Run as a program: ruby -rbundler/setup -Ilib rakelib/house/replaced_methods.rb

require "json"
require "active_support"
require "active_support/cache/larder_store"

module House
  # Reads the methods of the loaded Rails.
  module ReplacedMethods
    LISTS = { ActiveSupport::Cache::Store => :STORE_METHODS, ActiveSupport::Cache::Entry => :ENTRY_METHODS,
              ActiveSupport::Cache::WriteOptions => :OPTION_METHODS }.freeze
    ROOT = $LOADED_FEATURES.grep(%r{/active_support/cache\.rb\z}).first.delete_suffix("cache.rb")
    private_constant :ROOT

    module_function

    # @return [Hash{String => String}] what follows `def`, without comments; where Rails has no such method, or one that
    #   it did not write out, that in words
    def sources
      methods = { "ActiveSupport::Notifications.instrument" => ActiveSupport::Notifications.method(:instrument) }
      LISTS.each do |owner, list|
        Larder::Store::FastPath.const_get(list).each do |name|
          methods["#{owner}##{name}"] = instance_method_of(owner, name)
        end
      end
      methods.transform_values { |method| source(rails_own(method)) }
    end

    def instance_method_of(owner, name)
      owner.instance_method(name) if owner.method_defined?(name) || owner.private_method_defined?(name)
    end

    # Below what watches it.
    def rails_own(method)
      method = method.super_method until method.nil? || method.source_location&.first&.start_with?(ROOT)
      method
    end

    def source(method)
      return "(none)" unless method

      code = RubyVM::InstructionSequence.of(method)
      return "(made by an attr_ or delegate)" unless code

      file, = method.source_location
      first, _, last, = code.to_a[4].fetch(:code_location)
      File.readlines(file)[(first - 1)..(last - 1)].map(&:strip).reject { |line| line.empty? || line.start_with?("#") }
          .join("\n")
    end
  end
end

puts JSON.generate(rails: ActiveSupport.version.to_s, sources: House::ReplacedMethods.sources)
