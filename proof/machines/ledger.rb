# frozen_string_literal: true

# The ledger of a process: one line for each operation before it begins and one after it has ended, written at once, so
# that it is complete whenever the process is killed. Times are of CLOCK_MONOTONIC, which all processes of a host share.

require "json"
require_relative "setting"

module MachineProof
  # One operation. `began` and `ended` are times; `ended` is nil if its process was killed; `seconds` is its duration.
  # `versions` are those that it writes, by name, and `made` says when a block computed one. `found` is what it read, by
  # name. `errors` are the classes of what was reported while it ran.
  Operation = Struct.new(:process, :machine, :role, :configuration, :kind, :names, :versions, :began, :ended, :seconds,
                         :found, :result, :errors, :made, keyword_init: true) do
    # @return [Boolean]
    def answered?
      !ended.nil? && !raised?
    end

    # @return [Boolean] has an exception reached the caller?
    def raised?
      result.to_s.start_with?("raised ")
    end
  end

  # Written by one process.
  class Ledger
    # @param path [String] of a file that does not exist
    # @param process [Hash{String=>Object}] process, machine, role, configuration and pid
    def initialize(path, process)
      @file = File.open(path, File::WRONLY | File::CREAT | File::APPEND | File::EXCL, 0o600)
      @number = 0
      line(["process", process])
    end

    # Yields between both lines.
    #
    # @param kind [Symbol, String]
    # @param names [Array<String>]
    # @param versions [Hash{String=>String}]
    # @yieldreturn [Hash{Symbol=>Object}] found, result, errors
    # @return [Hash{Symbol=>Object}] the same
    def operation(kind, names = [], versions = {})
      @number += 1
      line(["begin", @number, Setting.now, kind, names, versions])
      started = Setting.now
      outcome = yield
      ended = Setting.now
      line(["end", @number, ended, ended - started, outcome])
      outcome
    end

    # Notes that a block has computed a value in the current operation.
    # @return [void]
    def made(name, version)
      line(["made", @number, Setting.now, name, version])
    end

    class << self
      # @param path [String]
      # @return [Array<Operation>]
      def read(path)
        operations = {}
        process = nil
        File.foreach(path, encoding: "UTF-8") do |text|
          kind, *rest = parsed(text) || next
          process ? add(operations, process, kind, rest) : process = rest.first
        end
        operations.values
      end

      private

      # The last line of a killed process may be incomplete.
      def parsed(text)
        JSON.parse(text)
      rescue JSON::ParserError
        nil
      end

      def add(operations, process, kind, rest)
        number, at, *more = rest
        case kind
        when "begin" then operations[number] = begun(process, at, *more)
        when "made" then made(operations[number], at, *more)
        when "end" then finished(operations[number], at, *more)
        end
      end

      def begun(process, at, kind, names, versions)
        Operation.new(process: process["process"], machine: process["machine"], role: process["role"],
                      configuration: process["configuration"], kind: kind.to_sym, names: names, versions: versions,
                      began: at, errors: [], found: {}, made: {})
      end

      def made(operation, at, name, version)
        operation.versions = operation.versions.merge(name => version)
        operation.made = operation.made.merge(version => at)
      end

      def finished(operation, at, seconds, outcome)
        operation.ended = at
        operation.seconds = seconds
        operation.found = outcome["found"] || {}
        operation.result = outcome["result"]
        operation.errors = outcome["errors"] || []
      end
    end

    private

    def line(object)
      @file.syswrite("#{JSON.generate(object)}\n")
    end
  end
end
