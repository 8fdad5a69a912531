# frozen_string_literal: true

# Finds leaks: of memory, descriptors and mappings of the lasting processes, of process slots, of bytes of the file
# and its directory. Looks while all processes pause, and compares the last look with the first.

module Soak
  # Looks, and what was wrong with them.
  class Leaks
    # What a heap may grow by without anything leaking.
    SLACK_KIB = 16_384

    # One process at one look.
    Look = Struct.new(:anonymous_kib, :descriptors, :mappings)

    # @return [Hash{Symbol => Array<Look>}]
    attr_reader :looks

    # @param setting [Setting]
    def initialize(setting)
      @setting = setting
      @looks = Hash.new { |hash, name| hash[name] = [] }
      @size = nil
    end

    # @param processes [Hash{Integer => Symbol}] pids that last, and what they are
    # @return [void]
    def look(processes)
      processes.each { |pid, name| @looks[name] << look_at(pid) }
      @size = File.size(@setting.path) if @size.nil?
    end

    # @return [Array<String>] what leaked in the file and its directory
    def of_file(hostile: false)
      [orphan, grown].compact + (hostile ? [] : [more_than_named].compact)
    end

    # A file that was replaced stays mapped until the cache is closed: then only memory is judged.
    #
    # @return [Array<String>] what leaked in processes
    def of_processes(hostile: false)
      @looks.select { |_, looks| looks.size > 1 }.flat_map do |name, looks|
        [memory(name, *looks.values_at(0, -1)), *(handles(name, *looks.values_at(0, -1)) unless hostile)].compact
      end
    end

    # @return [Array<String>] a line for each process
    def lines
      @looks.map do |name, looks|
        first, last = looks.values_at(0, -1)
        format("%-14s anonymous memory %d to %d KiB, descriptors %d to %d, maps of the file %d to %d", name,
               first.anonymous_kib, last.anonymous_kib, first.descriptors, last.descriptors, first.mappings,
               last.mappings)
      end
    end

    private

    def look_at(pid)
      Look.new(File.read("/proc/#{pid}/status")[/^RssAnon:\s+(\d+)/, 1].to_i,
               Dir.children("/proc/#{pid}/fd").size,
               File.foreach("/proc/#{pid}/maps").count { |line| line.include?(@setting.path) })
    end

    def memory(name, first, last)
      grown = last.anonymous_kib - first.anonymous_kib
      "#{name}: its memory grew by #{grown} KiB" if grown > SLACK_KIB + (first.anonymous_kib / 10)
    end

    def handles(name, first, last)
      [more(name, "descriptors", first.descriptors, last.descriptors),
       more(name, "maps of the file", first.mappings, last.mappings)]
    end

    def more(name, what, first, last)
      "#{name}: #{last} #{what}, #{first} before" if last > first
    end

    def orphan
      known = [File.basename(@setting.path), "#{File.basename(@setting.path)}.lock"]
      left = Dir.children(File.dirname(@setting.path)) - known
      "orphan files: #{left.sort.join(", ")}" unless left.empty?
    end

    def grown
      size = File.size?(@setting.path)
      "the file has #{size} bytes, #{@size} before" if size && @size && size > @size
    end

    def more_than_named
      "the file is gone" unless File.exist?(@setting.path)
    end
  end
end
