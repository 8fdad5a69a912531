# frozen_string_literal: true

# Checks after the last fault of a round that every machine trusts its copies and has an empty journal within a bounded
# time, also where only its writing process runs, that all machines read the values of the server, and that each
# receives the others' changes.

require "active_support"
require "active_support/cache"
require "fileutils"
require_relative "setting"
require_relative "value"

module MachineProof
  # Checks one round's.
  class Recovery
    # Seconds that all processes go on with random operations first.
    BUSY = 1.0
    # Seconds less than a copy's life in which another machine's change has to be there.
    SPARE = 1.0
    POLL = 0.1

    # @return [Array<String>]
    attr_reader :problems
    # @return [Float] seconds until all had recovered
    attr_reader :seconds

    # @param machines [Array<Machine>]
    # @param lonely [Machine] one of them
    # @param server [Server] that they use now
    # @param directory [String] that does not exist
    def initialize(machines, lonely, server, directory)
      @machines = machines
      @lonely = lonely
      @members = machines.flat_map { |machine| machine.members.values }
      @server = server
      @directory = directory
      @problems = []
    end

    # @return [void]
    def check
      began = Setting.now
      sleep(BUSY)
      @members.each { |member| member.ask(do: "rest") }
      wait_until_recovered(@members, began)
      @seconds = Setting.now - began
      leave_alone
      agree
      hear
      @members.each { |member| member.ask(do: "work") }
    end

    private

    # The process that only writes listens and applies the journal where no other does. In that time copies of before
    # end everywhere.
    def leave_alone
      serving, writing = @lonely.members.values_at(*Setting::ROLES)
      serving.finish
      writing.ask(do: "write", names: [Setting::NAMES.first])
      sleep(Setting::LIFE + SPARE)
      wait_until_recovered([writing], Setting.now)
      serving.start(serving.configuration)
      serving.ask(do: "rest")
    end

    def wait_until_recovered(members, began)
      until (left = not_well(members)).empty?
        if Setting.now - began > Setting::RECOVERY
          @problems.concat(left.map { |member, said| "#{member.name} has not recovered: #{said.inspect}" })
          break
        end
        sleep(POLL)
      end
    end

    # @return [Hash{Member=>Hash}] the statistics of those that have not recovered
    def not_well(members)
      members.to_h { |member| [member, member.ask(do: "stats")] }.reject { |_, said| well?(said) }
    end

    def well?(said)
      said && said["waiting"] == false && said["listed"].zero? && said["trusted"] == true
    end

    # Twice: the second time from the file.
    def agree
      expected = of_server
      2.times do
        readers.each do |member|
          read = member.ask(do: "read", names: Setting::NAMES)
          differ = Setting::NAMES.reject { |name| read[name] == expected[name] }
          next if differ.empty?

          name = differ.first
          @problems << "#{member.name} reads other values than the server has, of #{differ.size} keys: #{name}: " \
                       "#{read[name].inspect}, and the server has #{expected[name].inspect}"
        end
      end
    end

    # Reads by a store that has no copies yet, and whose requests pass through no link.
    def of_server
      FileUtils.mkdir_p(@directory)
      usual = Setting::CONFIGURATIONS.fetch(Setting::USUAL)
      store = ActiveSupport::Cache.lookup_store(:larder_store, File.join(@directory, "fresh.larder"),
                                                { remote: [:redis_cache_store, { url: @server.url }],
                                                  namespace: usual.namespace, size: Setting::SIZE })
      Setting::NAMES.to_h { |name| [name, (value = store.read(name)) && Value.read(value)] }
    end

    # Each machine changes a key while the others have copies of it that last longer.
    def hear
      readers.each_with_index do |writer, index|
        name = Setting::CALM[index]
        others = readers - [writer]
        others.each { |member| member.ask(do: "read", names: [name]) }
        primed = Setting.now
        writer.ask(do: "write", names: [name])
        expected = writer.ask(do: "read", names: [name])
        until others.all? { |member| member.ask(do: "read", names: [name]) == expected }
          if Setting.now - primed > Setting::LIFE - SPARE
            @problems << "a change by #{writer.name} is not read by the others"
            break
          end
          sleep(POLL)
        end
      end
    end

    def readers
      @machines.map { |machine| machine.members.fetch("serving") }
    end
  end
end
