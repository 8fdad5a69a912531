# frozen_string_literal: true

require_relative "../member"

module Soak
  module Members
    # A runner of jobs that forks a child for each, as Resque does. Children end in every way there is.
    class Jobs < Member
      # One job after the other.
      def play
        @cache, @store = @setting.open
        runner = worker(@cache, @store) || return
        runner.inherit
        until over?
          fork_child { work } unless @book.resting?
          until @children.empty? || over?
            runner.batch
            runner.rest
            reap
            sleep(0.02)
          end
          runner.rest
        end
        end_children
        runner.leave
      end

      private

      def work
        job = worker(@cache, @store) || return
        job.inherit
        job.work(0.02 + (@random.rand * 0.4))
        case @random.rand(6)
        when 0 then Process.kill(:KILL, Process.pid)
        when 1 then exit!(0)
        when 2 then @cache.close
        else job.leave
        end
      end
    end
  end
end
