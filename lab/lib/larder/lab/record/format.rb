# frozen_string_literal: true

module Larder
  module Lab
    # The format of traces, for recorder and reader. A trace is a sequence of gzip members, which processes append.
    # Each has lines of fields that tabs separate; times are microseconds since the start of the recording:
    #
    #   larder-trace  1  recording  process  dropped     first in each member; dropped: calls that were not recorded
    #   s  keyspace  name                                the name of a keyspace, if it may be written
    #   r  time  duration  thread  key  keyspace  hit    a call: its letter is in OPERATIONS; hit is 1, 0 or empty
    #   w  time  duration  thread  key  keyspace  hit  ttl          ttl in milliseconds, empty: none
    #   +  key  keyspace  hit                            a further key of the call before
    #   z  key  bytes                                    the size of a value
    #   q  time  duration  thread                        a request or job that has ended
    module Record
      MAGIC = "larder-trace"
      VERSION = 1

      # Letters by the events of Rails and of Larder. A generate is the computation of a value.
      OPERATIONS = {
        "read" => "r", "read_multi" => "r", "write" => "w", "write_multi" => "w", "delete" => "d",
        "delete_multi" => "d", "exist?" => "e", "increment" => "i", "decrement" => "i", "generate" => "g",
        "delete_matched" => "m", "delete_tagged" => "m", "expire" => "d", "cas" => "w", "cas_multi" => "w"
      }.transform_keys { |name| "cache_#{name}.active_support" }.freeze

      # Events around requests and jobs. The outermost one counts; those without a call are left out.
      REQUESTS = %w[request.action_dispatch process_action.action_controller perform.active_job].freeze
    end
  end
end
