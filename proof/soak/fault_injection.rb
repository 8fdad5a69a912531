# frozen_string_literal: true

# Does what a broken cache would do; LARDER_SOAK_FAULT names the fault. The tests of the soak show with it that the soak
# can fail. Nothing else sets it.

module Soak
  # Breaks one rule from one worker, again and again.
  class FaultInjection
    VARIABLE = "LARDER_SOAK_FAULT"
    KINDS = %w[value other resurrected expired crash exit file descriptors memory orphan hang].freeze
    # Only a process that lives long shows them.
    LONG = %w[descriptors memory hang].freeze

    # @return [FaultInjection, nil] nil: none was asked for
    def self.of(worker, kind = ENV.fetch(VARIABLE, nil))
      return if kind.nil? || kind.empty?
      raise ArgumentError, "unknown fault #{kind}; known: #{KINDS.join(", ")}" unless KINDS.include?(kind)

      new(worker, kind)
    end

    # @param worker [Worker]
    # @param kind [String] of {KINDS}
    def initialize(worker, kind)
      @worker = worker
      @kind = kind
      @kept = []
    end

    # Called after each batch of the worker.
    def act
      return if LONG.include?(@kind) && !Thread.current[:soak_steady]

      send("break_#{@kind}")
    end

    private

    def key(row = 0)
      "b/#{@worker.slot}/#{row}"
    end

    def base(row = 0)
      @worker.book.row(@worker.slot, row)
    end

    def value(row = 0, stamp = @worker.book[base(row)], expires_at_ms = 0)
      Value.make(Watch.number(@worker.slot, row), stamp, 100, expires_at_ms)
    end

    def break_value
      bytes = value
      bytes.setbyte(60, bytes.getbyte(60) ^ 1)
      @worker.cache.set(key, bytes)
    end

    def break_other
      @worker.cache.set(key(1), value(0))
    end

    def break_resurrected
      @kept << value
      @worker.cache.set(key, @kept.shift) if @kept.size > 20
    end

    def break_expired
      @worker.cache.set(key, value(0, @worker.book[base], Watch.unix_ms - 60_000))
    end

    def break_crash
      Process.kill(:SEGV, Process.pid) if @worker.random.rand(50).zero?
    end

    def break_exit
      exit!(3) if @worker.random.rand(50).zero?
    end

    # Somewhere in the middle, where records are or will be.
    def break_file
      File.open(@worker.cache.path, "r+b") do |file|
        file.seek(file.size / 3)
        file.write("\xff" * 65_536)
      end
    end

    def break_descriptors
      @kept << File.open(@worker.cache.path)
    end

    def break_memory
      @kept << ("x" * 400_000)
    end

    def break_orphan
      File.write("#{@worker.cache.path}.1", "")
    end

    def break_hang
      sleep
    end
  end
end
