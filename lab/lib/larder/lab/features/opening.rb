# frozen_string_literal: true

# Opens a store in the processes of a visit: in all of them in the same way, so that they share it.

require "active_support"
require "active_support/cache"
require "active_support/core_ext/numeric/time"
require "active_support/core_ext/object/blank"
require_relative "../contenders"

module Larder
  module Lab
    module Features
      # Opens the store of a job.
      module Opening
        # Seconds that keys live on a server of the user's.
        LIFE_ELSEWHERE = 300

        module_function

        # @param job [Hash{String=>Object}] "contender", "dir", "endpoint", "size", "namespace", "requires"
        # @param codecs [Hash] options of the store
        # @return [Contender] open
        def open(job, **codecs)
          dir, endpoint, size = job.values_at("dir", "endpoint", "size")
          job.fetch("requires", []).each { |file| require file }
          contender = Contenders.fetch(job["contender"]).new(dir: dir, endpoint: endpoint, size: size)
          theirs = endpoint && !endpoint["private"]
          codecs = { namespace: job["namespace"], expires_in: LIFE_ELSEWHERE, **codecs } if theirs
          contender.coded_by(**codecs) if codecs.any?
          contender.open
        end

        # @param contender [Contender] open
        # @return [Array<String>] where its files are: its directory, and another one if it has chosen one
        def directories(contender, job)
          path = contender.recorded[:arguments].to_a.first unless job["endpoint"]
          [job["dir"], (File.dirname(path) if path.is_a?(String))].compact.uniq
        end
      end
    end
  end
end
