# frozen_string_literal: true

# One user on both sides: each request goes to the application with its own store and to the one with Larder, and their
# pages are compared. Requests that change something wait for all others and keep them waiting, so that both databases
# have the same changes in the same order.

require_relative "../../lib/larder/bytes/monotonic_clock"
require_relative "browser"

module Foreign
  # Counts and differences of all users.
  class Findings
    # At most this number of differences of a kind are kept with their lines.
    KEPT = 20

    # @return [Array<String>] the differences that were kept
    attr_reader :different

    # @return [Array<String>] those that were kept of pages that were the same when asked again
    attr_reader :passing

    # @return [Hash{String => Integer}] counts by label
    attr_reader :counts

    def initialize
      @lock = Mutex.new
      @counts = Hash.new(0)
      @different = []
      @passing = []
    end

    # @param label [String]
    # @param number [Integer]
    # @return [void]
    def count(label, number = 1)
      @lock.synchronize { @counts[label] += number }
    end

    # @param text [String] the request and the lines that differ
    # @return [void]
    def differ(text)
      @lock.synchronize do
        @counts["pages that differed"] += 1
        @different << text if @different.size < KEPT
      end
    end

    # @param text [String] the request and the lines that differed
    # @return [void]
    def pass(text)
      @lock.synchronize do
        @counts["pages that differed and were the same when asked again"] += 1
        @passing << text if @passing.size < KEPT
      end
    end
  end

  # Readers together, a writer alone. A writer that waits keeps new readers waiting.
  class Turns
    def initialize
      @lock = Mutex.new
      @changed = ConditionVariable.new
      @readers = 0
      @writers = 0
      @writing = false
    end

    # @yield while others may read
    def read
      @lock.synchronize do
        @changed.wait(@lock) while @writing || @writers.positive?
        @readers += 1
      end
      yield
    ensure
      @lock.synchronize { (@readers -= 1) && @changed.broadcast }
    end

    # @yield while no one else reads or writes
    def write
      @lock.synchronize do
        @writers += 1
        @changed.wait(@lock) while @writing || @readers.positive?
        @writers -= 1
        @writing = true
      end
      yield
    ensure
      @lock.synchronize { (@writing = false) || @changed.broadcast }
    end
  end

  # A user's browsers.
  class Pair
    include Larder::MonotonicClock

    PAUSE = 1.5
    SIDES = ["its own stores", "Larder"].freeze

    # @return [Random] for decisions of this user
    attr_reader :random

    # @param browsers [Array(Browser, Browser)] of the default side and of Larder's
    # @param turns [Turns]
    # @param changes [Mutex] held while something changes: what kills servers takes it, too
    # @param findings [Findings]
    # @param random [Random]
    # @param stale [Numeric] how many seconds an application may show a page of its cache that is old
    # @param varying [Array] see Page#lines
    # @param pause [Numeric] seconds between two looks at a page that differs
    def initialize(browsers, turns:, changes:, findings:, random:, stale: 2, varying: [], pause: PAUSE)
      @browsers = browsers
      @turns = turns
      @changes = changes
      @findings = findings
      @random = random
      @stale = stale
      @varying = varying
      @pause = pause
      @alone = false
      @doubts = {}
    end

    # @param path [String]
    # @return [Page] of Larder's side
    def get(path)
      return look(path) if @alone

      page = @turns.read { look(path) }
      settle
      page
    end

    # @param path [String]
    # @param form [Hash{String => String}]
    # @return [Page] of Larder's side
    def post(path, form)
      raise ArgumentError, "POST #{path}: call it in a block of change" unless @alone

      pages, lines = ask("POST #{path}") { |browser| browser.post(path, form) }
      differ("POST #{path}", lines) if lines
      pages.last
    end

    # @yield requests that change something: no other user's request runs
    # @return [void]
    def change
      @changes.synchronize do
        @turns.write do
          @alone = true
          yield
        ensure
          @alone = false
        end
      end
      settle
    end

    # Several pages at the same moment with one session, as a page with its parts does.
    #
    # @param paths [Array<String>]
    # @return [void]
    def together(*paths)
      @turns.read { paths.map { |path| Thread.new { look(path) } }.each(&:join) }
      settle
    end

    # @return [Integer] requests that were cut off on both sides
    def cut
      @browsers.sum(&:cut)
    end

    private

    def look(path)
      pages, lines = ask("GET #{path}") { |browser| browser.get(path) }
      @doubts[path] = lines if lines
      pages.last
    end

    # @return [Array(Array<Page>, (Array<String>, nil))] the pages, and the first lines that differ
    def ask(what)
      pages = @browsers.map { |browser| yield browser }
      @findings.count("requests on each side")
      pages.each_with_index do |page, side|
        @findings.differ("#{what}: #{page.status} from #{SIDES[side]}") if page.status >= 500
      end
      [pages, pages.first.difference(pages.last, @varying)]
    end

    # A page that differs is asked for again, while others may change something: the clock may have gone on between the
    # two requests, and what an application has cached may be old.
    def settle
      doubts, @doubts = @doubts, {}
      doubts.each { |path, first| settle_one(path, first) }
    end

    def settle_one(path, first)
      deadline = monotonic_now + @stale
      loop do
        sleep(@pause)
        _, lines = @turns.read { ask("GET #{path}") { |browser| browser.get(path) } }
        return @findings.pass(described("GET #{path}", first)) unless lines
        return differ("GET #{path}", lines) if monotonic_now > deadline
      end
    end

    def differ(what, lines)
      @findings.differ(described(what, lines))
    end

    def described(what, lines)
      "#{what}\n    its own stores: #{lines.first}\n    Larder:         #{lines.last}"
    end
  end
end
