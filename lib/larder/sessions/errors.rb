# frozen_string_literal: true

# The errors of sessions: one class for each that an application would rescue differently, or that is reported.

require "shellwords"
require_relative "../../larder"

module Larder
  module Sessions
    # The base class.
    class Error < Larder::Error; end

    # The application has no sessions of Larder's.
    class NotConfiguredError < Error
      # @api private
      def initialize
        super("no sessions of Larder's are configured: config.session_store :larder_store in Rails, or use " \
              "Rack::Session::Larder")
      end
    end

    # The serializer cannot read the bytes of a session.
    class UnreadableError < Error; end

    # The backend cannot answer a question, as a store that cannot list its sessions.
    class UnsupportedError < Error; end

    # A session is longer than its file can store.
    class TooLongError < Error
      # @param bytes [Integer]
      # @param max [Integer]
      def initialize(bytes, max)
        super("a session of #{bytes} bytes is longer than the #{max} that a file of this size keeps for those who " \
              "are signed in: keep less in it, and what is large in the database or the cache")
      end
    end

    # A file has no {Settings}.
    class NoSettingsError < Error
      # @param path [String]
      def initialize(path)
        super("#{path} tells nothing about sessions. It is another cache's file, or the application has not used it " \
              "since it was made: start the application, and open a page that has a session. Sessions of cache: are " \
              "in that store: ask in the application, as by rails runner 'p Larder::Sessions.stats'")
      end
    end

    # The store of cache: or backed_by: does not answer, or refuses a change. So it is not known whether a session is
    # there, or a session could not be stored. The middleware answers a request with 503.
    class UnavailableError < RemoteError
      # @param store [#to_s] its class
      # @param reason [String]
      def initialize(store, reason)
        super("#{store} cannot tell which sessions there are, or store one: #{reason}. See that the store answers " \
              "and takes changes, and try again")
      end
    end

    # The store may have made the change, or may still make it: it did not answer. Raised by a backend.
    class UnansweredError < UnavailableError; end

    # Two files have their copies in one store of backed_by:. Reported once, never raised.
    class SecondMachineError < Error
      # @param store [String] its class
      # @param option [String] that several machines need
      def initialize(store, option)
        super("another machine, or another file of this machine, has copies of its sessions in the same #{store}. " \
              "backed_by: is for exactly one machine: a session that ends on one does not end on the others. On " \
              "several machines replace backed_by: by #{option}. Applications that share a store each need a " \
              "namespace: of their own in it")
      end
    end

    # The store of cache: or backed_by: deletes entries at an age that sessions may have. Reported, never raised.
    class MaxAgeError < Error
      # @param option [Symbol] cache: or backed_by:
      # @param store [#max_age]
      # @param age [Numeric] seconds
      def initialize(option, store, age)
        super("#{option}: #{store.class} deletes entries #{age.to_i} s after they were first written, and sessions " \
              "with them, also those in use. Set its max_age: to more than the max_lifetime: of sessions, or to nil")
      end
    end

    # The file is full of pinned sessions. Raised in a request that signs in, or that changes a signed-in session. The
    # middleware answers it with 503, or with the option on_full:.
    class NoRoomError < Error
      # @param backend [#to_s] where sessions are kept
      def initialize(backend)
        command = ": #{Enlarging.command(backend.cache.path, backend.cache.size)}" if backend.respond_to?(:cache)
        super("#{backend} is full of signed-in sessions, and one could not be stored. Give it more room#{command}, " \
              "or let sessions end earlier (idle_timeout:, max_lifetime:, per_user:)")
      end
    end

    # The file is nearly full of pinned sessions. Reported, never raised.
    class NoRoomSoonError < Error
      # @param cache [Cache]
      # @param share [Float] of the pinned room that is taken
      def initialize(cache, share)
        super("#{cache.path} has #{(share * 100).floor} % of its room for signed-in sessions taken, and refuses " \
              "sign-ins from #{(Room::LIMIT * 100).round} % on. Give it more room: " \
              "#{Enlarging.command(cache.path, cache.size)}, or let sessions end earlier (idle_timeout:, " \
              "max_lifetime:, per_user:)")
      end
    end

    # The command that gives a file more room.
    module Enlarging
      # @param path [String]
      # @param size [Integer] bytes of the file
      # @return [String] as a shell takes it; the application must be stopped meanwhile
      def self.command(path, size)
        "larder resize --keep #{Shellwords.escape(path)} #{(size * 2).fdiv(1 << 20).ceil}MB"
      end
    end

    # How messages name a place in a session.
    module Place
      # Characters of a key in a message.
      LONGEST_SHOWN = 60
      private_constant :LONGEST_SHOWN

      module_function

      # @param path [Array] keys and indexes that lead to a value
      # @return [String] as "session[\"cart\"][0]"
      def of(path)
        "session#{path.map { |step| "[#{shown(step)}]" }.join}"
      end

      # @param step [Object]
      # @return [String]
      def shown(step)
        return "a #{step.class}" unless step.is_a?(String) || step.is_a?(Symbol) || step.is_a?(Integer)

        text = step.inspect
        text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
      end
      private_class_method :shown
    end

    # A value of a session that its serializer cannot keep, and that was left out. Reported once for each key of the
    # session and class, never raised.
    class LossyValueError < Error
      JSON = "Keep what JSON has in sessions (of a record its id, of bytes their Base64), or choose serializer: " \
             ":marshal with the session store."
      NAME = Module.instance_method(:name)
      private_constant :JSON, :NAME

      # @return [Array(String, String)] the session's key and the class: what an application repairs in one place
      attr_reader :about

      # @param path [Array] keys and indexes that lead to the value
      # @param type [Class]
      # @param reason [String]
      # @param remedy [String]
      def initialize(path, type, reason, remedy: JSON)
        @about = [path.first.to_s, NAME.bind_call(type).to_s]
        super("#{Place.of(path)} is #{reason}, and was left out: the next request does not find it. #{remedy}")
      end
    end

    # A value of a session that the next request reads as another class, as JSON has it, in an application whose cookies
    # keep the class. Reported once for each key of the session and class, never raised.
    class ConvertedValueError < Error
      # @return [Array(String, String)] the session's key and the class
      attr_reader :about

      # @param path [Array] keys and indexes that lead to the value
      # @param type [Class] of the value, or of the key at the end of the path
      # @param keys [Boolean] the key is converted
      def initialize(path, type, keys: false)
        @about = [path.first.to_s, type.to_s]
        found = keys ? "#{Place.of(path[0..-2])} has keys of the class #{type}" : "#{Place.of(path)} is a #{type}"
        super("#{found}, and the next request reads what JSON has instead, as a String for a Symbol. The " \
              "cookies of this application keep Ruby objects (config.action_dispatch.cookies_serializer), so it may " \
              "expect them. Say serializer: :marshal with the session store if it does, or serializer: :json if not.")
      end
    end
  end
end
