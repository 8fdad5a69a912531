# frozen_string_literal: true

require "zlib"
require_relative "../errors"
require_relative "lines"
require_relative "recording"

module Larder
  module Lab
    module Record
      # Reads a trace. Parts that were cut off are left out; anything else that is wrong is an error. If a file has
      # several recordings, the one with most calls is taken.
      # @api private
      class Reader
        # Calls that are read, unless the caller says otherwise.
        MOST_CALLS = 1_000_000
        # Bytes of the lines of a member, at most.
        MEMBER = 64 << 20
        GZIP = "\x1f\x8b\b".b
        LETTERS = OPERATIONS.values.uniq.freeze
        # Fields with a number.
        NUMBER = /\A\d{1,15}\z/
        KEY = /\A[0-9a-z]{1,10}\z/
        HITS = { "1" => true, "0" => false, "" => nil, nil => nil }.freeze
        private_constant :MEMBER, :GZIP, :LETTERS, :NUMBER, :KEY, :HITS

        # True if the file begins as a trace does.
        def self.trace?(path)
          File.open(path, "rb") { |file| Zlib::GzipReader.new(file).readpartial(MAGIC.size) == MAGIC }
        rescue SystemCallError, Zlib::Error, EOFError
          false
        end

        # The {Recording}, with `calls` at most. Raises UsageError naming the file and what is wrong with it.
        def self.read(path, calls: MOST_CALLS) = new(path, calls).read

        def initialize(path, most)
          @path = path
          @most = most
          @recordings = Hash.new { |all, id| all[id] = Recording.new(File.basename(path)) }
          @damaged = 0
        end

        def read
          File.open(@path, "rb") { |file| read_members(file) }
          found = @recordings.values.max_by { |recording| recording.calls.size }
          wrong("it has no call") if found.nil? || found.calls.empty?
          found.complete(damaged: @damaged, others: @recordings.size - 1)
        rescue SystemCallError => error
          raise UsageError, "#{@path}: #{error.message.sub(/ @ .*/, "")}"
        end

        private

        def read_members(file)
          until file.eof?
            at = file.pos
            begin
              unused = read_member(file)
              file.pos -= unused
            rescue Zlib::Error
              @damaged += 1
              find_member(file, at + 1)
            end
          end
        end

        # All of it is read before a line is taken, because its checksum is at its end. Answers how many bytes behind it
        # were read, too.
        def read_member(file)
          member = Zlib::GzipReader.new(file)
          text = member.read(MEMBER).to_s.force_encoding(Encoding::UTF_8)
          wrong("a part has more than #{MEMBER >> 20} MB") unless member.eof?
          unused = member.unused.to_s.bytesize
          member.finish
          @number = 0
          text.scrub.each_line(chomp: true) { |line| read_line(line.split("\t", -1)) }
          unused
        end

        def find_member(file, from)
          file.pos = from
          rest = file.read
          file.pos = from + (rest.index(GZIP) || rest.bytesize)
        end

        def read_line(fields)
          @number += 1
          return begin_member(fields) if @number == 1

          case fields.first
          when "+" then add_key(fields.drop(1)) if @call
          when "s" then @recording.spaces[fields[1]] = fields[2].to_s
          when "z" then @recording.item(key(fields[1])).size = number(fields[2])
          when "q" then span(fields).then { |start, finish, thread| @recording.around[thread] << [start, finish] }
          when *LETTERS then call(fields)
          else wrong("line #{@number} of a part begins with #{fields.first.to_s[0, 20].inspect}")
          end
        end

        def begin_member(fields)
          magic, version, recording, process, dropped = fields
          wrong("it does not begin with #{MAGIC}") unless magic == MAGIC
          wrong("format #{version.to_s[0, 10]}; this larder-lab reads #{VERSION}") unless version == VERSION.to_s
          @recording = @recordings[recording]
          @process = number(process)
          @recording.dropped[@process] = number(dropped)
          @call = nil
        end

        def call(fields)
          return @call = nil if @recording.calls.size >= @most

          @call = Recording::Call.new(fields.first, *span(fields), fields[7] && number(fields[7]), [], [])
          @recording.calls << @call
          add_key(fields.drop(4)) if fields[4]
        end

        # Start, end and thread.
        def span(fields)
          start, duration, thread = fields.values_at(1, 2, 3).map { |text| number(text) }
          [start, start + duration, [@process, thread]]
        end

        # Key, keyspace and hit of the last call.
        def add_key((hash, space, hit))
          @call.items << @recording.item(key(hash), space)
          @call.hits << HITS[hit]
        end

        def key(text)
          KEY.match?(text.to_s) ? text : wrong("#{text.to_s[0, 20].inspect} in line #{@number} is not a key")
        end

        def number(text)
          NUMBER.match?(text.to_s) ? text.to_i : wrong("#{text.to_s[0, 20].inspect} in line #{@number} is not a number")
        end

        def wrong(reason)
          raise UsageError, "#{@path} is not a trace of Larder::Lab.record, or is damaged: #{reason}"
        end
      end
    end
  end
end
