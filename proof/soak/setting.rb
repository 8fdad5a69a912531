# frozen_string_literal: true

# What each process of a soak knows: the paths of ledger and cache, their sizes, what failed, and whether to end.

require "json"
require "active_support"
require "active_support/cache"
require "larder"
require "active_support/cache/larder_store"
require_relative "book"

module Soak
  # One for each process; what is forked from it begins anew.
  class Setting
    OPEN_SECONDS = 20
    # After so long no stopped process holds a lock that others wait for.
    STOPPED_NS = 10_000_000_000

    # @return [Book]
    attr_reader :book
    # @return [String] of the cache file
    attr_reader :path
    # @return [Integer] bytes of the file
    attr_reader :size
    # @return [Integer] calls of the Rails store that answered with an error in this process
    attr_reader :failures
    # @return [Boolean] do the workers of this process only read?
    attr_accessor :reading

    # @param library [String] for {Book}
    # @param book_path [String]
    # @param path [String]
    # @param size [Integer]
    def initialize(library, book_path, path, size)
      @arguments = [library, book_path, path, size]
      @book = Book.new(library, book_path)
      @path = path
      @size = size
      @failures = 0
      @over = false
    end

    # @return [String] what {.parse} makes the same of in another process
    def to_json(*)
      JSON.generate(@arguments)
    end

    # @return [Setting]
    def self.parse(text)
      new(*JSON.parse(text))
    end

    # In a process that is new: ends when told to, and with its parent.
    def begin_process
      @over = false
      @reading = false
      @failures = 0
      trap("TERM") { @over = true }
      trap("INT", "IGNORE") # the terminal's is for the first process, which ends all others
      @book.end_with_parent
      exit!(0) if Process.ppid == 1
    end

    # @return [Boolean] is this process told to end?
    def over?
      @over
    end

    # @return [Array(Larder::Cache, ActiveSupport::Cache::LarderStore)]
    def open
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + OPEN_SECONDS
      begin
        cache = Larder::Cache.open(path, size: size)
        [cache, ActiveSupport::Cache::LarderStore.new(path, size: size, error_handler: method(:failed))]
      rescue Larder::OpenError => e
        cache&.close
        raise if !locked?(e) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends

        @book.add(Book::LOCKED_OUT)
        retry
      end
    end

    # Gives back to the kernel what is not used.
    def collect
      GC.start
      GC.compact if GC.respond_to?(:compact)
      @book.trim
    end

    # @param error [Larder::Error]
    # @return [Boolean] is it for want of the lock for opening, which one that is stopped may have?
    def may_be_locked_out?(error)
      return true if @book.hostile_since?(Book.now)

      (error.is_a?(Larder::DamagedError) || locked?(error)) && Book.now < @book[Book::STOPPED_AT] + STOPPED_NS
    end

    private

    def locked?(error)
      error.message.include?("the lock for opening")
    end

    # The Rails store's error handler.
    def failed(method:, exception:, **)
      @failures += 1
      return if exception.is_a?(Larder::BusyError) || exception.is_a?(Larder::FullError) ||
                exception.message.include?("refused to store")
      return @book.add(Book::LOCKED_OUT) if may_be_locked_out?(exception)

      @book.wrong("#{method}: #{exception.class}: #{exception.message}")
    end
  end
end
