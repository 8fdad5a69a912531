# frozen_string_literal: true

# Converts a session's values to what JSON brings back unchanged, and leaves out values that have no form in JSON.

require "set"
require "time"
require_relative "lossy_value_error"

module Larder
  module Sessions
    # JSON keeps nil, true, false, Integers, finite Floats, Strings of valid UTF-8, and Arrays and Hashes of these whose
    # keys are Strings. Other values become the forms that Rails' JSON cookies give them by default: a Symbol a String,
    # a Time its ISO 8601 text, a Set an Array, a Struct a Hash. A value without such a form, as a record, is left out:
    # its Hash has no such key, its Array has nil in its place.
    class JsonRoundTrip
      # Levels of nested Arrays and Hashes that JSON reads (its limit is 100, and the session is one).
      DEEPEST = 99
      # Digits of a Time's fraction of a second.
      PRECISION = 3
      # Encodings of Strings without a declared encoding; Rack's have the first.
      UNTOLD = [Encoding::BINARY, Encoding::US_ASCII].freeze
      # Classes whose form as a value is their to_s, and those whose form as a key of a Hash is.
      NAMES = [Symbol, Range, Regexp].freeze
      KEYS = [Symbol, Integer, Float, nil, true, false, Time, Date].freeze
      # Classes that may not be loaded, by their names.
      DURATION = "ActiveSupport::Duration"
      DECIMAL = "BigDecimal"
      PARAMETERS = "ActionController::Parameters"
      TEXTS = %w[URI::Generic Pathname IPAddr].freeze
      OPTIONAL = [DURATION, DECIMAL, PARAMETERS, *TEXTS].freeze
      # In place of a value that is left out.
      NOTHING = Object.new.freeze
      # A BasicObject has no such methods.
      CLASS = Kernel.instance_method(:class)
      # A class may have a method "name" of its own, with arguments.
      NAME = Module.instance_method(:name)
      private_constant :UNTOLD, :NAMES, :KEYS, :DURATION, :DECIMAL, :PARAMETERS, :TEXTS, :OPTIONAL, :NOTHING, :CLASS,
                       :NAME

      class << self
        # @param session [Hash{String => Object}]
        # @yieldparam error [LossyValueError] of each value that is left out
        # @return [Hash{String => Object}] what JSON brings back: the same object where nothing is to be converted
        def convert(session, &left_out)
          session.each { |key, value| return new(left_out).convert(session) unless plain?(key) && kept?(value) }
          session
        end

        # This uses case, because an ActiveSupport::Duration answers is_a?(Integer) with true.
        #
        # @param value [Object]
        # @param level [Integer] how deep it is within the session
        # @return [Boolean] does JSON bring it back as it is?
        def kept?(value, level = 1)
          case value
          when nil, true, false, Integer then true
          when String then plain?(value)
          when Float then value.finite?
          when Array
            level <= DEEPEST && value.instance_of?(Array) && value.all? { |each| kept?(each, level + 1) }
          when Hash
            level <= DEEPEST && value.instance_of?(Hash) &&
              value.all? { |key, each| plain?(key) && kept?(each, level + 1) }
          else false
          end
        end

        # A String that needs no conversion, as nearly all are.
        #
        # @param value [Object]
        # @return [Boolean]
        def plain?(value)
          String === value && value.instance_of?(String) && # rubocop:disable Style/CaseEquality -- any object
            (value.ascii_only? || (value.encoding == Encoding::UTF_8 && value.valid_encoding?))
        end
      end

      private_class_method :new

      # @param left_out [#call, nil] called with a LossyValueError
      def initialize(left_out)
        @left_out = left_out
        @path = []
      end

      # @param session [Hash{String => Object}]
      # @return [Hash{String => Object}]
      def convert(session)
        session.each_with_object({}) do |(key, value), kept|
          @path = [key]
          put(kept, text(key), catch(:too_deep) { walk(value) })
        end
      end

      private

      def walk(value)
        case value
        when nil, true, false, Integer then value
        when Float then finite(value)
        when String then text(value)
        when Array then list(value)
        when Hash then hash(value)
        when Object then object(value)
        else leave_out_object(CLASS.bind_call(value))
        end
      end

      def object(value)
        case value
        when *NAMES then text(value.to_s)
        when Time, DateTime then value.xmlschema(PRECISION)
        when Date then value.strftime("%Y-%m-%d")
        when Set then list(value.to_a)
        when Struct then hash(value.to_h)
        else by_name(value)
        end
      end

      def by_name(value)
        case (OPTIONAL & value.class.ancestors.map { |type| NAME.bind_call(type) }).first
        when DURATION then walk(value.to_i)
        when DECIMAL then value.finite? ? value.to_s("F") : finite(value)
        when PARAMETERS then walk(value.to_unsafe_h)
        when nil then leave_out_object(value.class)
        else text(value.to_s)
        end
      end

      def leave_out_object(type)
        leave_out(type, "a #{type}, which has no form in JSON")
      end

      def finite(number)
        number.finite? ? number : leave_out(number.class, "#{number}, which JSON does not have")
      end

      def text(value)
        return value if JsonRoundTrip.plain?(value)

        told = UNTOLD.include?(value.encoding) ? String.new(value).force_encoding(Encoding::UTF_8) : String.new(value)
        told = told.encode(Encoding::UTF_8)
        told.valid_encoding? ? told : leave_out_bytes(value)
      rescue EncodingError
        leave_out_bytes(value)
      end

      def leave_out_bytes(value)
        leave_out(value.class, "a String of #{value.encoding}, which is not valid UTF-8")
      end

      def list(value)
        check_depth
        same = value.instance_of?(Array)
        kept = value.each_with_index.map do |each, index|
          now = at(index) { walk(each) }
          same &&= now.equal?(each)
          now unless NOTHING.equal?(now)
        end
        same ? value : kept
      end

      def hash(value)
        check_depth
        same = value.instance_of?(Hash)
        kept = value.each_with_object({}) do |(key, each), others|
          now = at(key) { walk(each) }
          name = at(key) { name(key) }
          same &&= now.equal?(each) && name.equal?(key)
          put(others, name, now)
        end
        same ? value : kept
      end

      def put(values, name, value)
        values[name] = value unless NOTHING.equal?(name) || NOTHING.equal?(value)
      end

      def name(key)
        case key
        when String then text(key)
        when *KEYS then text(key.to_s)
        else leave_out(key.class, "stored under a #{key.class}, which is not a name")
        end
      end

      def at(step)
        @path.push(step)
        yield.tap { @path.pop }
      end

      # The whole value of the session is left out: a structure that contains itself has no end.
      def check_depth
        return if @path.size <= DEEPEST

        @path = @path.first(1)
        throw :too_deep, leave_out(Array, "nested more than #{DEEPEST} levels deep")
      end

      def leave_out(type, reason)
        @left_out&.call(LossyValueError.new(@path, type, reason))
        NOTHING
      end
    end
  end
end
