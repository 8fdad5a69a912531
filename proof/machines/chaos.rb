# frozen_string_literal: true

# Does what a plan says to servers, links and processes, counts it, and puts everything in order again.

require "json"
require_relative "setting"

module MachineProof
  # The steps of a {Plan} are its public methods.
  class Chaos
    # Messages that this version of Larder does not send, as a whole or in parts.
    FOREIGN = ["", "nonsense", "null", "[]", "{}", "[1]", "\xFF\x00\xFE".b, '[99,"stranger","keys",["azE="]]',
               '[1,"stranger","keys","azE="]', '[1,"stranger","keys",["not base64"]]', '[1,"stranger","keys",[[[]]]]',
               '[1,"stranger","tags",[""]]', '[1,"stranger","prefix",[7]]', '[1,"stranger","other",["azE="]]',
               JSON.generate([1, "stranger", "keys", [["k" * 70_000].pack("m0")]]), "[" * 200_000, "x" * 2_000_000,
               JSON.generate([1, "stranger", "tags", Array.new(20_000) { |number| ["t#{number}"].pack("m0") }])].freeze

    # The steps by name, and how often each was done.
    #
    # @return [Hash{Symbol=>Integer}]
    attr_reader :counts

    # @param servers [Hash{String=>Server}]
    # @param network [Network]
    # @param machines [Array<Machine>]
    def initialize(servers, network, machines)
      @servers = servers
      @network = network
      @machines = machines
      @counts = Hash.new(0)
    end

    # @param steps [Array<Array>] see {Plan}
    # @return [void]
    def play(steps)
      began = Setting.now
      steps.each do |at, name, *arguments|
        sleep([began + at - Setting.now, 0].max)
        members.each(&:look_after)
        public_send(name, *arguments)
        @counts[name] += 1
      end
    end

    # All servers and processes run, with the usual configuration, and all links pass everything on.
    # @return [void]
    def heal
      @network.clear_all
      @servers.each_value { |server| server.lives? ? server.resume : server.begin_life }
      members.each do |member|
        member.resume
        member.look_after
        member.lives? ? restart(member, Setting::USUAL) : member.start(Setting::USUAL)
      end
      members.each(&:wait)
    end

    # @!group Steps

    def kill_server(name) = @servers[name].kill
    def start_empty(name) = @servers[name].lives? || @servers[name].begin_life
    def start_old(name, which) = @servers[name].lives? || @servers[name].go_back(which)
    def stop_server(name) = @servers[name].suspend
    def continue_server(name) = @servers[name].resume
    def flush(name) = @servers[name].flush
    def snapshot(name) = @servers[name].take_snapshot
    def messages(name) = FOREIGN.each { |text| @servers[name].publish(text) }
    def obstruct(link, how) = @network.obstruct(link, how)
    def clear(link) = @network.clear(link)
    def kill_process(machine, role) = member(machine, role).kill
    def stop_process(machine, role) = member(machine, role).suspend
    def continue_process(machine, role) = member(machine, role).resume

    def start_process(machine, role)
      member = member(machine, role)
      member.start(member.configuration) unless member.lives?
    end

    def configure(machine, role, configuration)
      restart(member(machine, role), configuration)
    end

    # @!endgroup

    private

    def restart(member, configuration)
      return if member.lives? && member.configuration == configuration

      member.finish
      member.start(configuration)
    end

    def member(machine, role)
      @machines[machine].members.fetch(role)
    end

    def members
      @machines.flat_map { |machine| machine.members.values }
    end
  end
end
