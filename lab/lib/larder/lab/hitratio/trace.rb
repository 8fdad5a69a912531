# frozen_string_literal: true

require "stringio"
require "zlib"
require_relative "../errors"
require_relative "../record/reader"

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

      # Reads files with traces. The end of a file's name decides its format; each file may be compressed by gzip.
      module Formats
        # name => what ends a file's name (nil: all others), what it is
        TABLE = {
          "oraclegeneral" => [/\.(bin|oracleGeneral)\z/, "records of 24 bytes, as libCacheSim writes them"],
          "larder"        => [/\.larder-trace\z/, "by Larder::Lab.record; known by its first bytes"],
          "integers"      => [nil, "one integer a line, as the traces of LIRS"]
        }.freeze
        # Bytes of a record of oracleGeneral: time (32), object (64), size (32), next access (64), little-endian.
        RECORD = 24

        module_function

        # @raise [UsageError] if it cannot be read or is not a trace
        def read(path)
          name = File.basename(path).delete_suffix(".gz")
          format, = TABLE.find { |_, (ending, _)| ending.nil? || name.match?(ending) }
          return trace_of(Record::Reader.read(path)) if format == "larder" || Record::Reader.trace?(path)

          data = File.binread(path)
          data = Zlib::GzipReader.zcat(StringIO.new(data)) if data.start_with?("\x1f\x8b".b)
          Trace.new(name, *(format == "oraclegeneral" ? records(name, data) : [integers(name, data)]))
        rescue SystemCallError, Zlib::Error => error
          raise UsageError, "cannot read the trace #{path}: #{Lab.reason(error)}; --list lists patterns and formats"
        end

        # Its reads of values that the application stores; no cache can answer the others. Raises UsageError without.
        def trace_of(recording)
          items = recording.reads.map(&:first).select(&:stored)
          raise UsageError, "#{recording.name} has no read of a value that is stored" if items.empty?

          Trace.new(recording.name, items.map(&:key), items.map { |item| [item.size, 1].max })
        end

        # Keys and sizes.
        def records(name, data)
          if data.empty? || !(data.bytesize % RECORD).zero?
            raise UsageError, "#{name} is no oracleGeneral trace: #{data.bytesize} bytes are not records of #{RECORD}"
          end

          0.step(data.bytesize - 1, RECORD).map { |at| data.unpack("L<Q<L<", offset: at).drop(1) }.transpose
        end

        def integers(name, data)
          lines = data.lines.map(&:strip).reject { |line| line.empty? || line.match?(/\A[#*]/) }
          raise UsageError, "#{name} is not a trace: it has no lines" if lines.empty?

          odd = lines.find { |line| !line.match?(/\A-?\d+\z/) }
          raise UsageError, "#{name} is not a trace: #{odd[0, 20].inspect} is not an integer" if odd

          lines
        end
        private_class_method :records, :integers
      end
    end
  end
end
