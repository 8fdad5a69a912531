# frozen_string_literal: true

# Reads what callgrind dumped: the instructions of each function, with those of the functions that it calls, and without
# them by source file.

module Bench
  # One dump, in the format that valgrind's manual describes ("Callgrind Format Specification"): the first mention of a
  # name gives it a number, later ones have the number alone.
  class CallgrindFile
    # @return [Integer] instructions of all functions
    attr_reader :total

    # @param lines [Enumerable<String>]
    def initialize(lines)
      @inclusive = Hash.new(0)
      @own = Hash.new(0)
      @total = 0
      @files = {}
      @functions = {}
      read(lines)
    end

    # @param function [String] that does not call itself
    # @return [Integer] of all calls of it, with what it calls; 0 if it was not called
    def inclusive(function)
      @inclusive[function]
    end

    # @param function [String]
    # @param files [Regexp] of the source that was compiled into it, as headers are
    # @return [Integer] without what it calls
    def own(function, files)
      @own.sum { |(name, file), instructions| name == function && files.match?(file) ? instructions : 0 }
    end

    private

    def read(lines)
      file = function = callee = nil
      lines.each do |line|
        case line
        when /\A(?:fl|fi|fe)=(.+)/ then file = named(@files, $1)
        when /\A(?:cfi|cfl)=(.+)/ then named(@files, $1)
        when /\Afn=(.+)/ then function = named(@functions, $1)
        when /\Acfn=(.+)/ then callee = named(@functions, $1)
        when /\A[-+*\d]\S* (\d+)/
          callee ? called(callee, Integer($1)) : ran(function, file, Integer($1))
          callee = nil
        end
      end
    end

    def named(names, said)
      number, name = said.match(/\A(\(\d+\))(?: (.+))?/).captures
      names[number] = name if name
      names.fetch(number)
    end

    def called(function, instructions)
      @inclusive[function] += instructions
    end

    def ran(function, file, instructions)
      @own[[function, file]] += instructions
      @total += instructions
    end
  end
end
