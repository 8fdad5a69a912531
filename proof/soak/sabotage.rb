# frozen_string_literal: true

# What a broken cache would do, done on purpose: LARDER_SOAK_SABOTAGE names one. The tests of the soak see by it that
# the soak can fail. Never set otherwise.

module Soak
  # Breaks one rule from one actor, again and again.
  class Sabotage
    VARIABLE = "LARDER_SOAK_SABOTAGE"
    KINDS = %w[value other resurrected expired crash exit file descriptors memory stray hang].freeze
    # Only a process that lives long shows them.
    LONG = %w[descriptors memory hang].freeze

    # @return [Sabotage, nil] nil: none was asked for
    def self.of(actor, kind = ENV.fetch(VARIABLE, nil))
      return if kind.nil? || kind.empty?
      raise ArgumentError, "unknown sabotage #{kind}; known: #{KINDS.join(", ")}" unless KINDS.include?(kind)

      new(actor, kind)
    end

    # @param actor [Actor]
    # @param kind [String] of {KINDS}
    def initialize(actor, kind)
      @actor = actor
      @kind = kind
      @kept = []
    end

    # Called after each batch of the actor.
    def act
      return if LONG.include?(@kind) && !Thread.current[:soak_steady]

      send("break_#{@kind}")
    end

    private

    def key(row = 0)
      "b/#{@actor.slot}/#{row}"
    end

    def base(row = 0)
      @actor.book.row(@actor.slot, row)
    end

    def value(row = 0, stamp = @actor.book[base(row)], expires_at_ms = 0)
      Value.make(Watch.number(@actor.slot, row), stamp, 100, expires_at_ms)
    end

    def break_value
      bytes = value
      bytes.setbyte(60, bytes.getbyte(60) ^ 1)
      @actor.cache.set(key, bytes)
    end

    def break_other
      @actor.cache.set(key(1), value(0))
    end

    def break_resurrected
      @kept << value
      @actor.cache.set(key, @kept.shift) if @kept.size > 20
    end

    def break_expired
      @actor.cache.set(key, value(0, @actor.book[base], Watch.unix_ms - 60_000))
    end

    def break_crash
      Process.kill(:SEGV, Process.pid) if @actor.random.rand(50).zero?
    end

    def break_exit
      exit!(3) if @actor.random.rand(50).zero?
    end

    # Somewhere in the middle, where records are or will be.
    def break_file
      File.open(@actor.cache.path, "r+b") do |file|
        file.seek(file.size / 3)
        file.write("\xff" * 65_536)
      end
    end

    def break_descriptors
      @kept << File.open(@actor.cache.path)
    end

    def break_memory
      @kept << ("x" * 400_000)
    end

    def break_stray
      File.write("#{@actor.cache.path}.1", "")
    end

    def break_hang
      sleep
    end
  end
end
