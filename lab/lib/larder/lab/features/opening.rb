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
      # Opens what a job names.
      module Opening
        # Seconds that keys live on a server of the user's.
        LIFE_ELSEWHERE = 300

        module_function

        # @param job [Hash{String=>Object}] "contender", "dir", "endpoint", "size", "namespace", "requires"
        # @param codecs [Hash] options of the store
        # @return [Contender] open
        # @raise [Unavailable]
        def open(job, **codecs)
          job.fetch("requires", []).each { |file| require file }
          contender = Contenders.fetch(job["contender"]).new(dir: job["dir"], endpoint: job["endpoint"],
                                                             size: job["size"])
          options = elsewhere(job).merge(codecs)
          contender.coded_by(**options) if options.any?
          contender.open
        end

        # Where the files of an open store are: its directory, and another one if it has chosen one.
        # @param contender [Contender]
        # @param job [Hash{String=>Object}]
        # @return [Array<String>]
        def directories(contender, job)
          path = contender.recorded[:arguments].to_a.first unless job["endpoint"]
          [job["dir"], (File.dirname(path) if path.is_a?(String))].compact.uniq
        end

        # A server of the user's is left as it was found, in time.
        def elsewhere(job)
          endpoint = job["endpoint"]
          return {} if endpoint.nil? || endpoint["private"]

          { namespace: job["namespace"], expires_in: LIFE_ELSEWHERE }
        end
        private_class_method :elsewhere
      end
    end
  end
end
