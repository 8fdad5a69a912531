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

    # Opens a file, which may be missing. One that root creates belongs to the owner of the directory, as the engine's
    # files do.
    #
    # @param path [String]
    # @param flags [Integer] of open(2)
    # @return [File]
    # @raise [SystemCallError] also for a symbolic link
    def open(path, flags)
      flags |= File::CREAT | File::NOFOLLOW
      begin
        File.open(path, flags | File::EXCL, 0o600).tap { |file| give(file) }
      rescue Errno::EEXIST
        File.open(path, flags, 0o600)
      end
    end

    # Creates an empty file, unless it is there, which is on the disk afterwards.
    #
    # @param path [String]
    # @return [void]
    # @raise [SystemCallError]
    def create(path)
      file = Companions.open(path, File::WRONLY)
      file.fsync
      File.open(File.dirname(path), &:fsync)
    ensure
      file&.close
    end

    # @param path [String]
    # @return [Boolean] may it be one of the files of a cache?
    def name?(path)
      path.scrub.match?(/\.(?:stats|journal|backplane\.\h{16})\z/)
    end

    def give(file)
      directory = File.stat(File.dirname(file.path))
      file.chown(directory.uid, directory.gid) if Process.euid.zero? && !directory.uid.zero?
    rescue SystemCallError
      nil # root may not, and uses it
    end

    def purpose(ending)
      KINDS.find { |pattern, _| pattern.match?(ending.b) }&.last
    end
    private_class_method :give, :purpose
  end
end
