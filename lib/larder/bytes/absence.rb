# frozen_string_literal: true

# Says why a cache has no file: no process has used it yet, or this one could not make it.

require_relative "doctor"
require_relative "errors"
require_relative "remedy"

module Larder
  # @api private
  module Absence
    # No file is there yet, and nothing is seen that would keep a process from making it.
    class NotUsed < OpenError
    end

    # @param path [String] where there is no file
    # @param cache [Cache, nil] of that path, in this process
    # @return [NotUsed, OpenError] the latter with the cause
    def self.of(path, cache = nil)
      return cache.refusal if cache&.refusal

      start = "there is no file at #{Remedy.shown(path)}"
      cause, = Doctor::Creation.hindrance(path, *cache&.wanted_size)
      return NotUsed.new("#{start}: the application creates it at its first use") unless cause

      OpenError.new("#{start}. #{Remedy.shown(cause)}")
    end
  end
end
