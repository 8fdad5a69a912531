# frozen_string_literal: true

# Converts arguments (paths, sizes, seconds, counts) to what the native methods take (absolute paths, bytes, whole
# milliseconds, 64-bit integers), and raises for wrong ones. Uses no file.

module Larder
  # @api private
  module Options
    # A positive time never rounds to 0, which means "never" to the engine.
    SHORTEST_MS = 1
    EXPIRED_MS = -1
    NEVER_MS = 0
    LONGEST_LOCK_TIMEOUT = 3600
    UNIX_MS = (1..((1 << 53) - 1))
    CONFIGURATIONS = (0..((1 << 64) - 1))

    module_function

    # @return [String] absolute; as given where the working directory it is relative to was removed, which the engine
    #   tells
    def path(given)
      name = given.respond_to?(:to_path) ? given.to_path : given
      raise TypeError, "path must be a String or Pathname, got #{given.class}" unless name.is_a?(String)

      wrong = Application.objection(name)
      raise InvalidArgument, wrong if wrong

      absolute(name)
    end

    # @return [Integer] bytes, 0 where the engine's default is meant
    def size_bytes(given)
      return 0 if given.nil?

      raise TypeError, "size must be an Integer of bytes, got #{given.class}" unless given.is_a?(Integer)

      range = Cache::MIN_SIZE..Cache::MAX_SIZE
      return given if range.cover?(given)

      raise OpenError, "size #{given} is not between #{range.min} and #{range.max} bytes"
    end

    # @return [Integer] of 64 bits without a sign, 0: no configuration
    def configuration(given)
      return 0 if given.nil?
      return given if given.is_a?(Integer) && CONFIGURATIONS.cover?(given)

      raise ArgumentError, "configuration is #{given.inspect}; it takes an Integer from 0 to 2**64 - 1, or nil"
    end

    # @return [Boolean]
    def switch(name, given)
      return given if [true, false].include?(given)

      raise ArgumentError, "#{name} is #{given.inspect}; it takes true or false"
    end

    # @return [Integer] milliseconds, 0 where the engine's default is meant
    def lock_timeout_ms(given)
      return 0 if given.nil?

      seconds = number(given, "lock_timeout")
      return to_ms(seconds) if seconds.between?(0, LONGEST_LOCK_TIMEOUT)

      raise InvalidArgument, "lock_timeout #{given} is not between 0 and #{LONGEST_LOCK_TIMEOUT} seconds"
    end

    # @return [Integer] milliseconds; 0 never expires, negative is expired at once
    def ttl_ms(given)
      return NEVER_MS if given.nil?

      seconds = number(given, "ttl")
      return EXPIRED_MS if seconds <= 0
      return to_ms(seconds) if seconds <= Cache::MAX_TTL

      raise InvalidArgument, "ttl #{given} is above #{Cache::MAX_TTL} seconds; nil never expires"
    end

    # The same for what must be stored to be decided or counted: expired at once is the shortest life.
    # @return [Integer] milliseconds; 0 never expires
    def life_ms(given)
      milliseconds = ttl_ms(given)
      milliseconds == EXPIRED_MS ? SHORTEST_MS : milliseconds
    end

    # @return [Integer] Unix time in milliseconds; times before 1970 count as its first millisecond
    def unix_ms(given)
      seconds = number(given, "now")
      return UNIX_MS.min if seconds * 1000 < UNIX_MS.min
      return (seconds * 1000).floor if seconds * 1000 <= UNIX_MS.max

      raise InvalidArgument, "now #{given} is not a Unix time in seconds"
    end

    # @param given [Array(Numeric, Numeric)] seconds of CLOCK_MONOTONIC and CLOCK_REALTIME
    # @return [Array(Integer, Integer)] milliseconds
    def moment_ms(given)
      unless given.is_a?(Array) && given.size == 2
        raise InvalidArgument, "since: is #{given.inspect}; it takes the times of CLOCK_MONOTONIC and CLOCK_REALTIME"
      end

      given.map { |time| unix_ms(time) }
    end

    # @return [Integer]
    def int64(given, name)
      raise TypeError, "#{name} must be an Integer, got #{given.class}" unless given.is_a?(Integer)
      return given if given.bit_length < 64

      raise InvalidArgument, "#{name} #{given} does not fit 64 bits"
    end

    def absolute(name)
      Application.beyond_links(File.absolute_path(name))
    rescue Errno::ENOENT
      name
    end

    # ActiveSupport's durations are Numeric, too.
    # @return [Integer, Float] not NaN
    def number(given, name)
      case given
      when Integer then return given
      when Float
        return given unless given.nan?

        raise InvalidArgument, "#{name} is NaN; give seconds"
      end
      return number(given.to_f, name) if given.is_a?(Numeric) && given.real?

      raise TypeError, "#{name} must be a number of seconds, got #{given.class}"
    end

    def to_ms(seconds)
      [(seconds * 1000).round, SHORTEST_MS].max
    end

    private_class_method :absolute, :to_ms
  end
end
