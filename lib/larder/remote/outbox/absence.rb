# frozen_string_literal: true

# Decides what it means that the journal's file cannot be opened.

require "shellwords"

module Larder
  module Remote
    class Outbox
      # If there is no file, and none can be made, no process has listed anything in it. Then the remote store may be
      # used, which is reported once in a process.
      # @api private
      class Absence
        EFFECT = "there is no list of the changes that the remote store does not take: only the process that makes " \
                 "such a change knows it, and the others do not ask the remote store until it was applied"
        NO_ROOM = [Errno::ENOSPC, Errno::EDQUOT].freeze
        private_constant :EFFECT, :NO_ROOM

        # @param path [String] of the file
        # @param size [Integer] bytes of the file
        # @yieldreturn [Boolean] are there marks of changes that are not known?
        def initialize(path, size, &marked)
          @path = path
          @size = size
          @marked = marked
        end

        # @yieldparam error [Larder::OpenError]
        # @return [void]
        def when_reported(&block)
          @report = block
        end

        # @param error [Larder::OpenError]
        # @return [true] there is no file, and none can be made
        # @raise [Larder::OpenError] it is unknown what is listed
        def confirm(error)
          error = explained(error)
          raise error unless there_is_none?

          report(error) unless @reported == Process.pid
          true
        end

        # There is a file.
        # @return [void]
        def over
          @reported = nil
        end

        private

        # A file that cannot be looked at is taken to be there.
        def there_is_none?
          File.lstat(@path)
          false
        rescue Errno::ENOENT, Errno::ENOTDIR
          !@marked.call
        rescue SystemCallError
          false
        end

        def report(error)
          @reported = Process.pid
          @report&.call(OpenError.new("#{EFFECT}. #{error.message}"))
        end

        # The size of the cache makes no difference here.
        def explained(error)
          return error unless NO_ROOM.any? { |kind| error.message.include?(kind.new.message) }

          place = Shellwords.escape(File.dirname(@path))
          error.exception("#{@path} takes #{@size >> 20} MiB, and there is too little room: free some " \
                          "(df -h #{place}; of files: df -i #{place})")
        end
      end
    end
  end
end
