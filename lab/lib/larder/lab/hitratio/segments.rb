# frozen_string_literal: true

module Larder
  module Lab
    module Hitratio
      # S3-FIFO in whole segments, as the engine evicts (docs/adr/0028-steered-eviction.md), but without its overhead.
      class Segments
        # The share of the small queue, and of it the newest part in which hits do not count.
        Configuration = Struct.new(:small, :young)
        # A run of objects that is emptied as a whole. `opened` counts segments of both queues, `order` those of its
        # own.
        Segment = Struct.new(:queue, :opened, :order, :bytes, :objects)
        MOST_READS = 3
        # Ghosts are valid for so many times the cache, or in small ones until so many objects are remembered.
        WINDOW = 2.5
        REMEMBERED = 2048
        # Attempts to find room, from which on more than one read is needed to stay, and from which on nothing stays.
        PATIENCE = [3, 6].freeze
        private_constant :Segment, :PATIENCE

        # @return [Configuration]
        attr_accessor :configuration
        # @return [Integer] misses since it was full
        attr_reader :misses

        # @param capacity [Integer] bytes
        # @param count [Integer] segments that it is divided into
        # @param objects [Integer] objects of the trace
        # @param configuration [Configuration]
        def initialize(capacity, count, objects, configuration)
          @bytes = [capacity / count, 1].max
          @free = @count = count
          @configuration = configuration
          @queues = [[], []]
          @orders = [0, 0]
          @opened = @misses = @objects = 0
          @segment_of = Array.new(objects)
          @reads = Array.new(objects, 0)
          @sizes = Array.new(objects)
          @ghosts = Array.new(objects) # when the segments were opened that the objects were in
        end

        # @param object [Integer]
        # @param size [Integer] bytes
        # @return [Boolean] was it there? If not, it is stored
        def request(object, size)
          segment = @segment_of[object]
          if segment
            @reads[object] = [@reads[object] + 2, MOST_READS].min unless young?(segment)
            return true
          end
          @misses += 1 if @free <= 1
          queue = ghost?(object) ? 1 : 0
          @ghosts[object] = nil
          append(queue, object, size, 0) { make_room }
          @objects += 1
          false
        end

        private

        def young?(segment)
          segment.queue.zero? && @orders[0] - 1 - segment.order < @configuration.young * most_small
        end

        def most_small
          [@configuration.small * @count, 1].max
        end

        def ghost?(object)
          opened = @ghosts[object]
          return false unless opened && @opened - opened <= window

          oldest = @queues[1].first
          oldest.nil? || opened > oldest.opened
        end

        def window
          scale = 1
          scale *= 2 while scale < 32 && scale * WINDOW * @objects < REMEMBERED
          WINDOW * @count * scale
        end

        # The block makes room for another segment. What is longer than the end of a segment goes on in the next.
        def append(queue, object, size, reads)
          newest = @queues[queue].last
          if newest.nil? || newest.bytes >= @bytes
            yield if block_given?
            newest = open_segment(queue, @queues[queue].last)
          end
          newest.objects << object
          newest.bytes += size
          @segment_of[object] = newest
          @sizes[object] = size
          @reads[object] = reads
        end

        def open_segment(queue, before)
          over = before ? [before.bytes - @bytes, 0].max : 0
          segment = Segment.new(queue, @opened, @orders[queue], over, [])
          @opened += 1
          @orders[queue] += 1
          @free -= 1
          @queues[queue] << segment
          segment
        end

        # One segment stays free, for what moves to the main queue.
        def make_room
          attempt = 0
          while @free <= 1
            empty(attempt)
            attempt += 1
          end
        end

        def empty(attempt)
          segment = @queues[victim].shift
          @free += 1
          least = least_reads(segment.queue, attempt)
          segment.objects.each do |object|
            next unless @segment_of[object].equal?(segment)

            reads = @reads[object]
            if reads >= least
              append(1, object, @sizes[object], segment.queue.zero? ? 0 : reads - 1)
            else
              evict(object, segment)
            end
          end
        end

        def victim
          queue = @queues[0].size >= most_small ? 0 : 1
          queue = 1 - queue if @queues[queue].empty? || (@queues[queue].size == 1 && @queues[1 - queue].size > 1)
          queue
        end

        def least_reads(queue, attempt)
          return 1 if queue.zero? || attempt < PATIENCE[0]

          attempt < PATIENCE[1] ? 2 : MOST_READS + 1
        end

        def evict(object, segment)
          @segment_of[object] = nil
          @ghosts[object] = segment.opened if segment.queue.zero?
          @objects -= 1
        end
      end
    end
  end
end
