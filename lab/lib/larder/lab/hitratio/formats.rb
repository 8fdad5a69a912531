# frozen_string_literal: true

# Reads files with traces, and recognizes the format of a file.

require "zlib"
require_relative "../errors"
require_relative "../record/reader"
require_relative "trace"

module Larder
  module Lab
    module Hitratio
      # A format is told by the end of a file's name, or by --format; each may be compressed by gzip.
      module Formats
        # name => what ends a file's name (nil: all others), what it is
        TABLE = {
          "oraclegeneral" => [/\.(bin|oracleGeneral)\z/, "records of 24 bytes, as libCacheSim writes them"],
          "csv"           => [/\.csv\z/i, "key,size a line; a first line of names is left out"],
          "arc"           => [/\.(lis|arc)\z/i, "the traces of the ARC paper: first block, how many, two more numbers"],
          "larder"        => [/\.larder-trace\z/, "by Larder::Lab.record; known by its first bytes"],
          "integers"      => [nil, "one integer a line"]
        }.freeze
        # Bytes of a record of oracleGeneral: time (32), object (64), size (32), next access (64), little-endian.
        RECORD = 24
        # Bytes of a block of ARC's traces.
        BLOCK = 512
        # Blocks that one line of ARC may ask for: more is no trace.
        MOST_BLOCKS = 1 << 20
        private_constant :RECORD, :BLOCK, :MOST_BLOCKS

        module_function

        # @return [Array<String>]
        def names
          TABLE.keys
        end

        # @param path [String]
        # @param format [String, nil] one of the names; nil: by the file's name
        # @return [Trace]
        # @raise [UsageError] if it cannot be read or is no trace
        def read(path, format = nil)
          return recorded(path) if format == "larder" || (format.nil? && Record::Reader.trace?(path))

          data = File.binread(path)
          data = Zlib.gunzip(data) if data.start_with?("\x1f\x8b".b)
          name = File.basename(path).delete_suffix(".gz")
          parse(name, data, format || of(name))
        rescue SystemCallError, Zlib::Error => error
          raise UsageError, "cannot read the trace #{path}: #{error.message}"
        end

        # @param name [String] of a file
        # @return [String]
        def of(name)
          TABLE.find { |_, (ending, _)| ending.nil? || name.match?(ending) }.first
        end

        # Reads of a recorded cache; the other calls change nothing here.
        def recorded(path)
          trace_of(Record::Reader.read(path))
        end

        # @param recording [Record::Recording]
        # @return [Trace] its reads of values that the application stores; no cache can answer the others
        # @raise [UsageError] if it has none
        def trace_of(recording)
          items = recording.reads.map(&:first).select(&:stored)
          raise UsageError, "#{recording.name} has no read of a value that is stored" if items.empty?

          Trace.new(recording.name, items.map(&:key), items.map { |item| [item.size, 1].max })
        end

        def parse(name, data, format)
          case format
          when "oraclegeneral" then oraclegeneral(name, data)
          when "csv" then csv(name, data)
          when "arc" then arc(name, data)
          else integers(name, data)
          end
        end

        def oraclegeneral(name, data)
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
          Trace.new(name, keys, sizes)
        end

        def integers(name, data)
          keys = lines(name, data)
          odd = keys.find { |key| !key.match?(/\A-?\d+\z/) }
          raise UsageError, "#{name} is no trace: #{odd[0, 20].inspect} is no integer" if odd

          Trace.new(name, keys, nil)
        end

        # Keys may be anything but a comma; an object is as large as its request says.
        def csv(name, data)
          rows = lines(name, data).map { |line| line.rpartition(",") }
          rows.shift if rows.size > 1 && !number?(rows.first.last)
          odd = rows.find { |key, _, size| key.empty? || !number?(size) }
          raise UsageError, "#{name} is no trace: #{odd.join[0, 20].inspect} is no key,size" if odd

          Trace.new(name, rows.map { |key, *| key.strip }, rows.map { |*, size| Integer(size.strip, 10) })
        end

        # A line asks for some blocks in a row: "4711 8 0 99" are eight, from block 4711 on.
        def arc(name, data)
          blocks = lines(name, data).flat_map do |line|
            first, count = line.split.first(2).map { |word| Integer(word, 10, exception: false) }
            unless first && count&.between?(1, MOST_BLOCKS)
              raise UsageError, "#{name} is no trace of ARC: #{line[0, 20].inspect} says no first block and how many"
            end

            Array.new(count) { |i| first + i }
          end
          Trace.new(name, blocks, Array.new(blocks.size, BLOCK))
        end

        def lines(name, data)
          found = data.lines.map(&:strip).reject { |line| line.empty? || line.match?(/\A[#*]/) }
          found.empty? ? raise(UsageError, "#{name} is no trace: it has no lines") : found
        end

        def number?(text)
          text.strip.match?(/\A\d+\z/)
        end
        private_class_method :recorded, :parse, :oraclegeneral, :integers, :csv, :arc, :lines, :number?
      end
    end
  end
end
