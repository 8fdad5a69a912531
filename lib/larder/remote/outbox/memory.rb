# frozen_string_literal: true

# Changes that only this process knows, because the journal's file takes none.

require "fileutils"
require "larder/bytes/companions"
require "larder/bytes/signal_handler"
require "securerandom"

module Larder
  module Remote
    class Outbox
      # While there are any, the process has an empty file next to the journal, which tells the other processes that
      # they do not know all changes. It stays if the process is killed. Its name changes with each change, so that a
      # process that has cleared the remote store removes only files of changes before that.
      #
      # The handler of a signal cannot take the lock, and may have interrupted the thread that has it. So the changes
      # and the files are only changed by single calls of Ruby's methods in C, which nothing interrupts.
      # @api private
      class Memory
        # Changes at most. With more it is unknown what to apply.
        MOST = 1024
        private_constant :MOST

        # @return [Hash] is empty if there are none
        attr_reader :changes

        # @param journal [String] path
        # @param remote [Integer]
        def initialize(journal, remote)
          @directory, name = File.split(journal)
          @start = "#{name}.#{Configuration.hex(remote)}."
          @changes = {}.compare_by_identity
          @files = []
          @mutex = Mutex.new
        end

        # @param kind [Symbol]
        # @param texts [Array<String>]
        # @return [void]
        def add(kind, texts)
          texts.each { |text| @changes[[kind, text]] = true unless full? }
          alone { mark }
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
          all.count(&:first)
        end

        # @return [Array<Array>] what {#forget} takes
        def all
          @changes.keys
        end

        # Visits all changes. When the block returns, they are forgotten; an exception ends the visit.
        #
        # @yieldparam kind [Symbol]
        # @yieldparam texts [Array<String>]
        # @return [void]
        def each
          all.select(&:first).group_by(&:first).each do |kind, changes|
            yield kind, changes.map(&:last)
            forget(changes)
          end
        end

        # @param changes [Array<Array>] of {#all}; an equal change that was added since stays
        # @return [void]
        def forget(changes)
          alone do
            files = own # a later one is of a later change
            changes.each { |change| @changes.delete(change) }
            next unless @changes.empty?

            unmark(files)
            files.each { |file| @files.delete(file) }
          end
        end

        # @return [Array<String>] files of processes that know changes, or were killed
        def others
          names = Dir.children(@directory, encoding: @directory.encoding)
                     .select { |name| name.start_with?(@start) && name.end_with?(".pending") }
          names.map { |name| File.join(@directory, name) } - own - ["#{@directory}/#{@start}pending"]
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

        def alone(&block)
          SignalHandler.runs? ? yield : @mutex.synchronize(&block)
        end

        # Usually one; there are two for a moment if the handler of a signal makes another. The file of a parent stays
        # its own.
        def own
          start = File.join(@directory, "#{@start}#{Process.pid}-")
          @files.select { |file| file.start_with?(start) }
        end

        def mark
          path = File.join(@directory, "#{@start}#{Process.pid}-#{SecureRandom.hex(4)}.pending")
          last = own.last
          if last && File.exist?(last) then File.rename(last, path)
          else Companions.create(path)
          end
          @files.push(path)
          @files.delete(last)
        rescue SystemCallError
          nil # no other process can know
        end
      end
    end
  end
end
