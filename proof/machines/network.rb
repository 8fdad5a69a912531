# frozen_string_literal: true

# The links of all machines, and a record of when each passed nothing on.

require "English"
require "rbconfig"
require_relative "setting"

module MachineProof
  # Leads the process of relay.rb.
  class Network
    PROGRAM = File.expand_path("relay.rb", __dir__)
    private_constant :PROGRAM

    # A link and the times between which it was not as it should be.
    Obstruction = Struct.new(:machine, :server, :lane, :how, :began, :ended)

    # @return [Array<Obstruction>]
    attr_reader :obstructions

    # @param servers [Hash{String=>Server}]
    # @param log [String]
    def initialize(servers, log)
      @links = Setting::MACHINES.times.flat_map do |machine|
        servers.keys.product(Setting::LANES).map { |server, lane| [machine, server, lane] }
      end
      ports = @links.map { |_, server, _| servers.fetch(server).port.to_s }
      @relay = IO.popen([{ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", PROGRAM, *ports, { err: [log, "a"] }],
                        "r+")
      @ports = @links.to_h { |link| [link, Integer(@relay.gets)] }
      @obstructions = []
    end

    # @param machine [Integer]
    # @return [Hash{String=>Integer}] ports by "SERVER LANE"
    def ports(machine)
      @ports.select { |(of, _, _), _| of == machine }.transform_keys { |_, server, lane| "#{server} #{lane}" }
    end

    # @param link [Array(Integer, String, String)] machine, server and lane
    # @param how [String] hold both, hold there, hold back, hold old, delay SECONDS or cut
    # @return [void]
    def obstruct(link, how)
      clear(link)
      @obstructions << Obstruction.new(*link, how, Setting.now, Float::INFINITY)
      order(link, how)
    end

    # @return [void]
    def clear(link)
      open = @obstructions.select { |one| one.ended == Float::INFINITY && one.to_a.first(3) == link }
      return if open.empty?

      order(link, "pass")
      open.each { |one| one.ended = Setting.now }
    end

    # @return [void]
    def clear_all
      @links.each { |link| clear(link) }
    end

    # @return [Boolean] has the relay ended without an error?
    def close
      @relay.close
      $CHILD_STATUS.success?
    end

    private

    def order(link, how)
      @relay.puts("#{@links.index(link)} #{how}")
      @relay.gets or raise "the relay has ended"
    end
  end
end
