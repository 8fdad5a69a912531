# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      # A sequence of requests. Objects are numbered from 0 in the order of their first request.
      class Trace
        # Where an object is never asked for again.
        NEVER = (1 << 62)

        # name: for people; objects: how many different ones; requests: the object of each; sizes: its bytes (nil:
        # objects of one size, which the file does not say).
        attr_reader :name, :objects, :requests, :sizes

        # There is a key for each request.
        def initialize(name, keys, sizes = nil)
          @name = name
          @sizes = sizes
          numbers = {}
          @requests = keys.map { |key| numbers[key] ||= numbers.size }
          @objects = numbers.size
        end

        # @return [Trace] the same requests for objects that all have that size
        def with_size(bytes) = Trace.new(name, requests, Array.new(requests.size, bytes))

        # @return [Integer] bytes of all objects, each as large as it was first
        def footprint
          @footprint ||= begin
            seen = Array.new(objects)
            requests.each_with_index { |object, at| seen[object] ||= sizes[at] }
            seen.sum
          end
        end

        # @return [Array<Integer>] for each request the number of the next one for the same object, or NEVER
        def following
          @following ||= begin
            last = Array.new(objects, NEVER)
            (requests.size - 1).downto(0).map do |at|
              object = requests[at]
              last[object].tap { last[object] = at }
            end.reverse
          end
        end
      end
    end
  end
end
