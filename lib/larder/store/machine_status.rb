# frozen_string_literal: true

# The status that a machine publishes, for people who look at all machines.

require "json"

module Larder
  module Store
    # The state of one machine that shares a remote store, at the moment at which it published it.
    #
    # @!attribute [r] id
    #   @return [String] names the machine, or rather the files of its cache
    # @!attribute [r] host
    #   @return [String] the name of the machine or container
    # @!attribute [r] path
    #   @return [String] of the cache
    # @!attribute [r] larder
    #   @return [String] the version
    # @!attribute [r] seen_at
    #   @return [Float] Unix seconds by the clock of that machine
    # @!attribute [r] processes
    #   @return [Integer, nil] that have the file open; nil: the file cannot be opened, as in the next five
    # @!attribute [r] items
    #   @return [Integer, nil]
    # @!attribute [r] size_bytes
    #   @return [Integer, nil] of the file
    # @!attribute [r] fullness
    #   @return [Float, nil] 0.0 to 1.0
    # @!attribute [r] hit_ratio
    #   @return [Float, nil] of reads of the file in the last hour; nil also: there were none, or no statistics
    # @!attribute [r] trusted
    #   @return [Boolean, nil] may its copies be used? always true without a backplane
    # @!attribute [r] backplane
    #   @return [Boolean] is there one?
    # @!attribute [r] listener
    #   @return [Boolean, nil] does one of its processes listen to it? nil: there is none, or it is not known
    # @!attribute [r] unsent
    #   @return [Boolean] are there changes that the other machines do not know?
    # @!attribute [r] waiting
    #   @return [Boolean] are there changes that the remote store has not got?
    # @!attribute [r] listed
    #   @return [Integer, nil] how many are in the journal; nil: it cannot be opened
    # @!attribute [r] overflown
    #   @return [Boolean, nil] are there more than it can list? nil: it cannot be opened
    # @!attribute [r] waiting_since
    #   @return [Float, nil] Unix seconds; nil: none wait, or it is not known
    # @!attribute [r] paused
    #   @return [Boolean] did the process that wrote this make no calls of the remote store at that moment?
    # @!attribute [r] here
    #   @return [Boolean] is it this machine?
    MachineStatus = Struct.new(:id, :host, :path, :larder, :seen_at, :processes, :items, :size_bytes, :fullness,
                               :hit_ratio, :trusted, :backplane, :listener, :unsent, :waiting, :listed, :overflown,
                               :waiting_since, :paused, :here, keyword_init: true)

    # Reading, writing and age.
    class MachineStatus
      # Bytes of the longest that is read, and characters of the longest text in it.
      MOST = 4096
      LONGEST = 255
      # A test of each member; nil is allowed where it says so.
      TEXT = ->(given) { given.is_a?(String) && given.size <= LONGEST && given.valid_encoding? }
      COUNT = ->(given) { given.nil? || (given.is_a?(Integer) && given.between?(0, 2**63)) }
      SHARE = ->(given) { given.nil? || (given.is_a?(Numeric) && given.between?(0, 1)) }
      TIME = ->(given) { given.is_a?(Numeric) && given.between?(0, 2**40) }
      FLAG = ->(given) { [true, false, nil].include?(given) }
      ID = ->(given) { given.is_a?(String) && given.match?(/\A\h{16}\z/) }
      TESTS = { id: ID, host: TEXT, path: TEXT, larder: TEXT, seen_at: TIME, processes: COUNT, items: COUNT,
                size_bytes: COUNT, fullness: SHARE, hit_ratio: SHARE, trusted: FLAG, backplane: FLAG, listener: FLAG,
                unsent: FLAG, waiting: FLAG, listed: COUNT, overflown: FLAG,
                waiting_since: ->(given) { given.nil? || TIME.call(given) }, paused: FLAG }.freeze
      private_constant :MOST, :LONGEST, :TEXT, :COUNT, :SHARE, :TIME, :FLAG, :ID, :TESTS

      # @param text [Object] found in the remote store, where others may write
      # @return [MachineStatus, nil] nil: it is none, or one of a later version of another form
      def self.parse(text)
        return unless text.is_a?(String) && text.bytesize <= MOST

        found = JSON.parse(text.dup.force_encoding(Encoding::UTF_8), max_nesting: 2)
        return unless found.is_a?(Hash)

        known = TESTS.keys.to_h { |name| [name, found[name.name]] }
        new(**known, here: false) if TESTS.all? { |name, test| test.call(known[name]) }
      rescue JSON::ParserError, EncodingError
        nil
      end

      # @return [String] for {.parse}
      def text
        JSON.generate(to_h.except(:here))
      end

      # @return [Float] seconds since it was published, by the clocks of both machines; 0.0: clocks differ
      def age(now = Time.now.to_f)
        [now - seen_at, 0.0].max
      end
    end
  end
end
