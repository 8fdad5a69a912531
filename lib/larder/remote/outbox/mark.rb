# frozen_string_literal: true

# An empty file that is there as long as the journal lists changes for a remote store.

require "fileutils"
require "larder/bytes/companions"

module Larder
  module Remote
    class Outbox
      # It is synced to the disk, so it survives a crash of the machine, which may empty the journal.
      # @api private
      class Mark
        # @param journal [String] path
        # @param remote [Integer]
        def initialize(journal, remote)
          @journal = journal
          @remote = remote
          @path = "#{journal}.#{Configuration.hex(remote)}.pending"
        end

        # @return [Boolean]
        def there?
          File.exist?(@path)
        end

        # @return [Time, nil] when it was made; nil: it is not there, or the file system does not say
        def since
          File.birthtime(@path)
        rescue SystemCallError, NotImplementedError
          nil
        end

        # @return [void]
        def make
          return if there?

          Companions.create(@path)
        rescue SystemCallError
          nil # the list itself is in place
        end

        # Its processes are running.
        # @return [void]
        def renew
          FileUtils.touch(@path, nocreate: true)
        rescue SystemCallError
          nil
        end

        # @return [void]
        def remove
          FileUtils.rm_f(@path)
        rescue SystemCallError
          nil
        end

        # @return [Array<Integer>] other remote stores that have a mark, and that were in use within a day
        def others
          directory = File.dirname(@path)
          files = Dir.glob("*.pending", base: directory).map { |name| File.join(directory, name) }
          files.select { |file| file.start_with?("#{@journal}.") && file != @path && recent?(file) }
               .map { |file| file.delete_prefix("#{@journal}.").to_i(16) }.uniq - [@remote]
        end

        private

        def recent?(file)
          (Time.now - File.mtime(file)).abs < Members::DAY
        rescue Errno::ENOENT
          false
        end
      end
    end
  end
end
