# frozen_string_literal: true

# Changes that only this process knows, because the journal's file takes none.

require "fileutils"
require "securerandom"

module Larder
  module Store
    class Remote
      class Journal
        # While there are any, the process has an empty file next to the journal, which tells the other processes that
        # they do not know all changes. It stays if the process is killed. Its name changes with each change, so that a
        # process that has cleared the remote store removes only files of changes before that.
        # @api private
        class Memory
          # Changes at most. With more it is unknown what to apply.
          MOST = 1024
          private_constant :MOST

          # @param journal [String] path
          # @param remote [Integer]
          def initialize(journal, remote)
            @directory, name = File.split(journal)
            @start = "#{name}.#{Configuration.hex(remote)}."
            @changes = []
            @mutex = Mutex.new
          end

          # @param kind [Symbol]
          # @param texts [Array<String>]
          # @return [void]
          def add(kind, texts)
            @mutex.synchronize do
              @changes = (@changes + texts.map { |text| [kind, text] }).first(MOST)
              mark
            end
          end

          # There are changes that it has not got.
          # @return [void]
          def overflow
            add(nil, [nil] * MOST)
          end

          # @return [Boolean]
          def empty?
            @changes.empty?
          end

          # @return [Boolean]
          def full?
            @changes.size >= MOST
          end

          # @return [Integer] how many changes it knows
          def size
            @changes.count(&:first)
          end

          # @return [Array<Array>] what {#forget} takes
          def all
            @changes
          end

          # Visits all changes. When the block returns, they are forgotten; an exception ends the visit.
          #
          # @yieldparam kind [Symbol]
          # @yieldparam texts [Array<String>]
          # @return [void]
          def each
            @changes.select(&:first).group_by(&:first).each do |kind, changes|
              yield kind, changes.map(&:last)
              forget(changes)
            end
          end

          # @param changes [Array<Array>] of {#all}; an equal change that was added since stays
          # @return [void]
          def forget(changes)
            gone = changes.each_with_object({}.compare_by_identity) { |change, all| all[change] = true }
            @mutex.synchronize do
              @changes = @changes.reject { |change| gone[change] }
              unmark([own]) if own && @changes.empty?
            end
          end

          # @return [Array<String>] files of processes that know changes, or were killed
          def others
            names = Dir.children(@directory).select { |name| name.start_with?(@start) && name.end_with?(".pending") }
            names.map { |name| File.join(@directory, name) } - [own, "#{@directory}/#{@start}pending"]
          rescue SystemCallError
            []
          end

          # The remote store has got what their processes knew.
          #
          # @param files [Array<String>]
          # @return [void]
          def unmark(files)
            FileUtils.rm_f(files)
          rescue SystemCallError
            nil
          end

          private

          # The file of a parent process stays its own.
          def own
            @own if @pid == Process.pid
          end

          def mark
            path = File.join(@directory, "#{@start}#{Process.pid}-#{SecureRandom.hex(4)}.pending")
            if own && File.exist?(own) then File.rename(own, path)
            else File.open(path, File::CREAT | File::WRONLY, 0o600, &:fsync)
            end
            @own, @pid = path, Process.pid
          rescue SystemCallError
            nil # no other process can know
          end
        end
      end
    end
  end
end
