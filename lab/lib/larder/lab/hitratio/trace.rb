# frozen_string_literal: true

# A trace: the requested objects in order, their sizes, and the next request of each. formats.rb and synthetic.rb make
# them.

module Larder
  module Lab
    module Hitratio
      # A sequence of requests. Objects are numbered from 0 in the order of their first request.
      class Trace
        # Where an object is never asked for again.
        NEVER = (1 << 62)

        # @return [String] for people
        attr_reader :name

        # @return [Array<Integer>] the object of each request
        attr_reader :requests

        # @return [Array<Integer>, nil] bytes of the object at each request; nil: objects of one size, which the file
        #   does not say
        attr_reader :sizes

        # @return [Integer] how many different objects there are
        attr_reader :objects

        # @param keys [Array<Object>] what was asked for
        # @param sizes [Array<Integer>, nil] bytes at each request
        def initialize(name, keys, sizes = nil)
          @name = name
          @sizes = sizes
          numbers = {}
          @requests = keys.map { |key| numbers[key] ||= numbers.size }
          @objects = numbers.size
        end

        # @return [Trace] the same requests for objects that all have so many bytes
        def with_size(bytes)
          following
          dup.tap { |trace| trace.same_size(bytes) }
        end

        # @return [Integer] bytes of all objects, each as large as it was first
        def footprint
          @footprint ||= begin
            seen = Array.new(@objects)
            @requests.each_with_index { |object, at| seen[object] ||= @sizes[at] }
            seen.sum
          end
        end

        # @return [Array<Integer>] for each request the number of the next one for the same object, or NEVER
        def following
          @following ||= begin
            last = Array.new(@objects, NEVER)
            following = Array.new(@requests.size)
            (@requests.size - 1).downto(0) do |at|
              following[at] = last[@requests[at]]
              last[@requests[at]] = at
            end
            following
          end
        end

        protected

        def same_size(bytes)
          @sizes = Array.new(@requests.size, bytes)
          @footprint = bytes * @objects
        end
      end
    end
  end
end
