# frozen_string_literal: true

# Gives each worker process of Rails' parallel tests its own files, like its own databases, and deletes them when it
# ends. Workers that are threads share the files of their process.

require "active_support"
require "active_support/lazy_load_hooks"
require "fileutils"
require_relative "../../larder"

module Larder
  # @api private
  module ParallelTests
    @types = []

    class << self
      # Gives the objects of a class other files. They have `work_apart`, which yields their path and takes the new one.
      #
      # @param type [Module]
      # @return [void]
      def cover(type)
        install if @types.empty?
        @types |= [type]
      end

      # @param worker [Integer] as Rails counts them; this process is it
      # @return [void]
      def begin(worker)
        Application.suffix = ".worker-#{worker}".freeze
        paths = Hash.new { |known, path| known[path] = Application.own(path).tap { |own| remove(own) } }
        @types.each { |type| ObjectSpace.each_object(type) { |one| one.work_apart { |path| paths[path] } } }
      end

      # Closes and deletes the files of this worker. Rails 8.1 also calls it in the parent, which has none.
      # @return [void]
      def end
        return unless Application.suffix

        caches = ObjectSpace.each_object(Cache).select { |cache| cache.path&.end_with?(Application.suffix) }
        caches.each(&:close)
        caches.each { |cache| remove(cache.path) }
      end

      private

      def install
        ActiveSupport.on_load(:active_support_test_case) do
          parallelize_setup { |worker| ParallelTests.begin(worker) }
          parallelize_teardown { ParallelTests.end }
        end
      end

      # Also deletes the files that a killed worker left.
      def remove(path)
        FileUtils.rm_f([path, "#{path}.lock", "#{path}.stats"])
      end
    end
  end
end
