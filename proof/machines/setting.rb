# frozen_string_literal: true

# The machines' common part: their keys, the configurations that deploys change between, and the figures that the judge
# computes with.

module MachineProof
  # One configuration of the store. `server` is the name of a server, nil without `remote:`; `life` is
  # `local_expires_in:`.
  Configuration = Struct.new(:name, :server, :namespace, :backplane, :life) do
    # @param machine [Integer]
    # @return [String] where its values are: those of a machine without `remote:` are in that machine's file alone
    def domain(machine)
      "#{server || "machine#{machine}"}/#{namespace}"
    end
  end

  # Constants of a run.
  module Setting
    MACHINES = 3
    # The second process of a machine never reads.
    ROLES = %w[serving writing].freeze
    SERVERS = %w[first second].freeze
    # Each machine has its own link to each server, once for the remote store and once for the backplane.
    LANES = %w[remote backplane].freeze

    # Seconds that the client of the remote store waits, for a connection and for an answer, and how often it tries
    # again.
    TIMEOUT = 0.4
    RETRIES = 1
    # Seconds after which a change may have been sent twice.
    SUSPECT = TIMEOUT * 0.9
    # Seconds that a call waits for the backplane.
    PUBLISH = 2
    # Seconds that a write waits for a lock of the file: the default of lock_timeout:.
    LOCK = 0.2
    # Seconds after the end of a write that timed out in which it may arrive and is still deleted again.
    REPEATED = TIMEOUT * (1 + RETRIES)
    # Seconds of local_expires_in:.
    LIFE = 4.0
    # Seconds after the last fault until every machine serves, trusts its copies and has applied its journal.
    RECOVERY = 20
    # Bytes of a machine's file.
    SIZE = 16 << 20

    CONFIGURATIONS = [
      Configuration.new("usual", "first", "app", true, LIFE),
      Configuration.new("namespace", "first", "app2", true, LIFE),
      Configuration.new("url", "second", "app", true, LIFE),
      Configuration.new("without-remote", nil, "app", false, nil),
      Configuration.new("without-backplane", "first", "app", false, LIFE / 2),
      Configuration.new("shorter", "first", "app", true, LIFE / 2)
    ].to_h { |configuration| [configuration.name, configuration] }.freeze
    USUAL = "usual"
    # The configurations that deploys change to, and back from.
    DEPLOYED = (CONFIGURATIONS.keys - [USUAL]).freeze

    # The first ones change often, the others seldom. Two of them no store takes as they are.
    PLAIN = [*Array.new(20) { |number| "k#{number}" }, "k ä\n", "k#{"-long" * 70}"].freeze
    TAGGED = Array.new(8) { |number| "tagged#{number}" }.freeze
    TAGS = TAGGED.each_with_index.to_h { |name, index| [name, "tag#{index % 4}"] }.freeze
    NAMES = (PLAIN + TAGGED).freeze
    BUSY = (PLAIN.first(6) + TAGGED.first(2)).freeze
    CALM = (NAMES - BUSY).freeze

    module_function

    # @return [Float] seconds of the clock that all processes of a host share
    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # @param configuration [Configuration]
    # @param ports [Hash{String=>Integer}] of the machine's links, by "SERVER LANE"
    # @return [Hash{Symbol=>Object}] options of LarderStore
    def store_options(configuration, ports)
      options = { size: SIZE, namespace: configuration.namespace }
      return options unless configuration.server

      options[:remote] = [:redis_cache_store, { url: url(ports, configuration, "remote"), connect_timeout: TIMEOUT,
                                                read_timeout: TIMEOUT, write_timeout: TIMEOUT,
                                                reconnect_attempts: RETRIES }]
      options[:local_expires_in] = configuration.life
      options[:backplane] = url(ports, configuration, "backplane") if configuration.backplane
      options
    end

    def url(ports, configuration, lane)
      "redis://127.0.0.1:#{ports.fetch("#{configuration.server} #{lane}")}/0"
    end
  end
end
