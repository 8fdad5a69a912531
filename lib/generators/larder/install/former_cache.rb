# frozen_string_literal: true

# Finds the options of the former cache: which of them Larder's store takes as they are, and which have to be left out.

require "yaml"
require_relative "former_options"

module Larder
  module Generators
    # The options of a former `config.cache_store = ...`, see FormerOptions, and those of the file of Solid Cache.
    # @api private
    class FormerCache
      # Options that mean the same for Rails' stores and for Larder's. A size does not: it is that of a process, or of a
      # database.
      KEPT = %w[namespace expires_in expire_in expired_in race_condition_ttl compress compress_threshold compressor
                serializer coder skip_nil raw error_handler max_key_size].freeze
      # An option of the file, in ERB.
      ERB = /<%=(.*?)-?%>/m
      # Stands for the ERB of that number while YAML is read.
      MARK = "larder-erb-"
      private_constant :ERB, :MARK

      # @param text [String] a statement that configures a store
      # @param yaml [String, nil] the file of Solid Cache
      def initialize(text, yaml = nil)
        @former = FormerOptions.new(text, "cache_store")
        @yaml = yaml if solid?
      end

      # @return [Boolean] true if the store is Solid Cache, which has a file of options
      def solid?
        @former.store.match?(/\A:solid_cache_store\z|SolidCache/)
      end

      # @return [Hash{String=>String}] the options that are kept
      def kept
        { **kept_of(file), **kept_of(@former.named) }
      rescue Psych::Exception
        kept_of(@former.named)
      end

      # @param carried [Array<String>] names of the options that are carried over
      # @return [Array<String>] options of the statement that are left out: names as `url:`, and texts without a name
      def left(carried = kept.keys)
        [*@former.others, *names(@former.named, carried)]
      end

      # @param carried [Array<String>] names of the options that are carried over
      # @return [Array<String>] options of the file that are left out
      def left_in_file(carried = kept.keys)
        names(file, carried)
      rescue Psych::Exception
        ["all options, as this is not YAML"]
      end

      private

      # Rails' stores may have no coder; Larder's always has one.
      def kept_of(options)
        options.select { |name, value| value && KEPT.include?(name) && [name, value] != %w[coder nil] }
      end

      def names(options, carried)
        (options.keys - carried).map { |name| "#{name}:" }
      end

      # @return [Hash{String=>String}] options in the section of production; nil stands for an Array or a Hash
      def file
        return {} unless @yaml

        codes = []
        loaded = YAML.safe_load(@yaml.gsub(ERB) { "#{MARK}#{codes.push($1.strip).size - 1}" }, aliases: true)
        sections = loaded.is_a?(Hash) ? loaded.values_at("shared", "production").grep(Hash) : []
        section = sections.reduce({}, :merge)
        store = section["store_options"]
        options = store.is_a?(Hash) ? { **section.except("store_options"), **store } : section
        options.transform_values { |value| ruby(value, codes) }
      end

      # @return [String, nil] the value as Ruby has it
      def ruby(value, codes)
        case value
        when /\A#{MARK}(\d+)\z/o then codes[$1.to_i]
        when /#{MARK}/o, Hash, Array then nil
        else value.inspect
        end
      end
    end
  end
end
