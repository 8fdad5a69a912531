# frozen_string_literal: true

# Owns the reading of traces: what was asked for, in order, how large it was, and when it is asked for again.

require "zlib"
require_relative "../errors"

module Larder
  module Lab
    module Hitratio
      # A sequence of requests. Objects are numbered from 0 in the order of their first request.
      class Trace
        # Bytes of a record of oracleGeneral: time (32), object (64), size (32), next access (64), little-endian.
        RECORD = 24
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

        # Reads a file: records of oracleGeneral where its name says so (`.bin`, `.oracleGeneral`), else one integer a
        # line; either may be compressed by gzip.
        # @param path [String]
        # @return [Trace]
        # @raise [UsageError] if it cannot be read or is no trace
        def self.read(path)
          data = File.binread(path)
          data = Zlib.gunzip(data) if data.start_with?("\x1f\x8b".b)
          name = File.basename(path).delete_suffix(".gz")
          name.match?(/\.(bin|oracleGeneral)\z/) ? binary(name, data) : text(name, data)
        rescue SystemCallError, Zlib::Error => error
          raise UsageError, "cannot read the trace #{path}: #{error.message}"
        end

        # @param name [String]
        # @param data [String]
        # @return [Trace]
        def self.binary(name, data)
          if data.empty? || !(data.bytesize % RECORD).zero?
            raise UsageError, "#{name} is no oracleGeneral trace: #{data.bytesize} bytes are not records of #{RECORD}"
          end

          keys = []
          sizes = []
          0.step(data.bytesize - 1, RECORD) do |at|
            _, key, size = data.unpack("L<Q<L<", offset: at)
            keys << key
            sizes << size
          end
          new(name, keys, sizes)
        end

        # @param name [String]
        # @param data [String]
        # @return [Trace]
        def self.text(name, data)
          keys = data.lines.map(&:strip).reject { |line| line.empty? || line.match?(/\A[#*]/) }
          odd = keys.find { |key| !key.match?(/\A-?\d+\z/) }
          raise UsageError, "#{name} is no trace: #{odd[0, 20].inspect} is no integer" if odd
          raise UsageError, "#{name} is no trace: it has no lines" if keys.empty?

          new(name, keys, nil)
        end

        private_class_method :binary, :text

        # @param name [String]
        # @param keys [Array<Object>] what was asked for
        # @param sizes [Array<Integer>, nil] bytes at each request
        def initialize(name, keys, sizes = nil)
          @name = name
          @sizes = sizes
          numbers = {}
          @requests = keys.map { |key| numbers[key] ||= numbers.size }
          @objects = numbers.size
        end

        # @param bytes [Integer]
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
