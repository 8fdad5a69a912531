# frozen_string_literal: true

# A trained dictionary of Zstandard: the bytes that many small values have in common, so that each compressed value can
# leave them out.

require "fiddle"
require "larder/codecs"

module Larder
  # Made by train, given to a compressor: `Larder::Compressors::Zstd.new(dictionary: dictionary)`.
  class Dictionary
    # The default limit on its bytes. More than some hundred times a sample helps little.
    DEFAULT_SIZE = 16 << 10

    # RFC 8878, 5: Dictionary_ID follows.
    MAGIC = "\x37\xA4\x30\xEC".b.freeze

    LIBRARIES = ["libzstd.so.1", "libzstd.so", "libzstd.1.dylib", "libzstd.dylib", "/opt/homebrew/lib/libzstd.dylib",
                 "/usr/local/lib/libzstd.dylib"].freeze
    FEWEST_SAMPLES = 8
    private_constant :MAGIC, :LIBRARIES, :FEWEST_SAMPLES

    # @return [Integer] which compressed values name; never 0
    attr_reader :id
    # @return [String] binary, frozen
    attr_reader :bytes

    # Trains a dictionary with libzstd's ZDICT_trainFromBuffer, from the system's library: no gem includes it.
    #
    # @param samples [Enumerable<String>] values as they are cached, serialized: some hundreds, of the kind to come
    # @param size [Integer] bytes, at most
    # @return [Larder::Dictionary]
    # @raise [ArgumentError] too few samples, or too short ones
    # @raise [Larder::MissingGemError] libzstd is not installed
    # @example
    #   dictionary = Larder::Dictionary.train(Product.first(500).map(&:to_json))
    def self.train(samples, size: DEFAULT_SIZE)
      samples = samples.map do |sample|
        sample.is_a?(String) ? sample : raise(TypeError, "samples are Strings, got #{sample.class}")
      end
      Codecs::Options.range(size, 256..(1 << 20), "size: of Larder::Dictionary.train")
      if samples.size < FEWEST_SAMPLES
        raise ::ArgumentError, "#{samples.size} samples are too few to train a dictionary; give #{FEWEST_SAMPLES}, " \
                               "or hundreds"
      end

      new(Trainer.train(samples, size))
    end

    # @param bytes [Object]
    # @return [Boolean] does it begin as a dictionary does?
    def self.valid?(bytes)
      bytes.is_a?(String) && bytes.bytesize >= 8 && bytes.b.start_with?(MAGIC)
    end

    # @param bytes [String] what #bytes gave
    # @raise [ArgumentError] it is no dictionary
    def initialize(bytes)
      valid = self.class.valid?(bytes)
      raise ::ArgumentError, "no dictionary of Zstandard; Larder::Dictionary.train makes one" unless valid

      @bytes = bytes.b.freeze
      @id = @bytes.unpack1("@4V")
    end

    # @return [Larder::Dictionary] itself, so that a compressor can use it like Larder::Dictionaries
    def current
      self
    end

    # @return [Larder::Dictionary, nil]
    def find(id)
      self if id == @id
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{id}, #{bytes.bytesize} bytes>"
    end

    # The C functions of libzstd.
    # @api private
    module Trainer
      SIZE = Fiddle::SIZEOF_SIZE_T

      module_function

      # @return [String]
      def train(samples, size)
        out = Fiddle::Pointer.malloc(size, Fiddle::RUBY_FREE)
        sizes = samples.map(&:bytesize).pack("J*")
        trained = function("ZDICT_trainFromBuffer", 5).call(out, size, samples.map(&:b).join, sizes, samples.size)
        return out[0, trained] if function("ZDICT_isError", 1).call(trained).zero?

        reason = Fiddle::Pointer.new(name_function.call(trained)).to_s
        raise ::ArgumentError, "these samples make no dictionary (#{reason}); give more of them, a hundred times its " \
                               "size (#{size} bytes) together, or a smaller size:"
      end

      def function(name, arguments)
        types = if arguments == 1
                  [Fiddle::TYPE_SIZE_T]
                else
                  [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T, Fiddle::TYPE_VOIDP,
                   Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT]
                end
        Fiddle::Function.new(library[name], types, arguments == 1 ? Fiddle::TYPE_INT : Fiddle::TYPE_SIZE_T)
      end

      def name_function
        Fiddle::Function.new(library["ZDICT_getErrorName"], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOIDP)
      end

      def library
        @library ||= LIBRARIES.lazy.filter_map { |name| library_called(name) }.first ||
                     raise(MissingGemError, "training needs the library libzstd: install libzstd1 (Debian) or zstd " \
                                            "(Homebrew)")
      end

      def library_called(name)
        Fiddle.dlopen(name)
      rescue Fiddle::DLError
        nil
      end
    end
    private_constant :Trainer
  end
end
