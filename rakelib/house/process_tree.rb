# frozen_string_literal: true

require "etc"

module House
  # The processes that a process has started, directly or not, and those of its process group. Reads /proc; where there
  # is none, it knows of none.
  class ProcessTree
    # A process. `started` tells it from a later one of the same number; `ticks` is its processor time and that of the
    # children that it has waited for.
    Member = Struct.new(:pid, :parent, :group, :ticks, :started) do
      # @return [Boolean] whether this process is still there
      def there?
        ProcessTree.member(pid)&.started == started
      end
    end

    # /proc/PID/stat: the name, in parentheses, may contain any byte. A process that is just ending has a group of -1.
    STAT = /\A(?<pid>\d+)[ ]\(.*\)[ ]\S[ ](?<parent>\d+)[ ](?<group>\d+)[ ](?:\S+[ ]){8}
            (?<ticks>(?:\d+[ ]){4})(?:\S+[ ]){4}(?<started>\d+)/mxn
    private_constant :STAT

    # @param pid [Integer] a process that leads a group
    def initialize(pid)
      @pid = pid
    end

    # @param pid [Integer, String]
    # @return [Member, nil] nil: there is no such process
    def self.member(pid)
      read(File.binread("/proc/#{pid}/stat"))
    rescue Errno::ENOENT, Errno::ESRCH
      nil
    end

    # @param line [String] of /proc/PID/stat
    # @return [Member, nil] nil: the process is ending
    def self.read(line)
      found = STAT.match(line) or return
      Member.new(*[:pid, :parent, :group].map { |name| Integer(found[name]) }, found[:ticks].split.sum(&:to_i),
                 Integer(found[:started]))
    end

    # @return [Array<Member>]
    def members
      all = Dir.children("/proc").grep(/\A\d+\z/).filter_map { |pid| self.class.member(pid) }
      newest, others = all.partition { |member| member.pid == @pid || member.group == @pid }
      chosen = []
      until newest.empty?
        chosen += newest
        pids = newest.map(&:pid)
        newest, others = others.partition { |member| pids.include?(member.parent) }
      end
      chosen
    rescue Errno::ENOENT
      []
    end

    # Kills the group, and those of these processes that are still there: some lead groups of their own.
    #
    # @param known [Array<Member>] that this returned before, as before a signal that ended their parents
    # @return [void]
    def kill(known = members)
      signal(:KILL, -@pid)
      known.each { |member| signal(:KILL, member.pid) if member.there? }
    end

    # @param name [Symbol] of a signal
    # @param pid [Integer] of a process, or that of a group below 0
    # @return [void]
    def signal(name, pid = -@pid)
      Process.kill(name, pid)
    rescue Errno::ESRCH
      nil # it has ended by itself
    end

    # @return [Float, nil] processor time of all that run, and of the children that they have waited for; nil: unknown
    def cpu_seconds
      members.sum(&:ticks) / Float(Etc.sysconf(Etc::SC_CLK_TCK)) if File.exist?("/proc/self/stat")
    end
  end
end
