# frozen_string_literal: true

# Names the files that belong to a cache and are next to its file.

module Larder
  # The lock file and the statistics are the engine's. The others are those of a store with `remote:` and `backplane:`.
  # @api private
  module Companions
    # A pattern of what follows the cache's path, and what the file is.
    KINDS = { /\A\.lock\z/ => "the cache's lock file",
              /\A\.stats\z/ => "the cache's statistics",
              /\A\.journal\z/ => "the journal of remote:",
              /\A\.journal\.lock\z/ => "the journal's lock file",
              /\A\.journal\.\h{16}(?:\.\d+-\h{8})?\.pending\z/ => "a mark of the journal",
              /\A\.backplane\.\h{16}\z/ => "a lock file of backplane:" }.freeze
    private_constant :KINDS

    module_function

    # @param path [String] of a cache
    # @return [String]
    def journal(path)
      "#{path}.journal"
    end

    # @param path [String] of a cache
    # @param configuration [String] 16 hexadecimal digits
    # @return [String]
    def backplane(path, configuration)
      "#{path}.backplane.#{configuration}"
    end

    # @param path [String] of a cache
    # @return [Hash{String=>String}] by path, what each is of all that are there, of any type; empty where the directory
    #   cannot be listed
    def of(path)
      directory, name = File.split(path)
      found = Dir.children(directory, encoding: path.encoding).sort.filter_map do |child|
        purpose = purpose(child.byteslice(name.bytesize..)) if child.start_with?(name)
        [File.join(directory, child), purpose] if purpose
      end
      found.to_h
    rescue SystemCallError
      {}
    end

    # @param path [String]
    # @return [Boolean] may it be one of the files of a cache?
    def name?(path)
      path.scrub.match?(/\.(?:stats|journal|backplane\.\h{16})\z/)
    end

    def purpose(ending)
      KINDS.find { |pattern, _| pattern.match?(ending.b) }&.last
    end
    private_class_method :purpose
  end
end
