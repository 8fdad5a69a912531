# frozen_string_literal: true

# Converts a session's values to what JSON brings back unchanged, and leaves out values that have no form in JSON.

require "time"
require_relative "errors"

module Larder
  module Sessions
    # JSON keeps nil, true, false, Integers, finite Floats, Strings of valid UTF-8, and Arrays and Hashes of these whose
    # keys are Strings. Values of other classes become the forms that Rails' JSON cookies give them by default, or are
    # left out: their Hash has no such key, their Array has nil in their place.
    #
    # `as_json` is not called. It makes a Hash of a record's attributes, with all secrets among them, or of the instance
    # variables of an object. To load it changes `to_json` in applications that use Rack alone.
    class JsonRoundTrip
      # Levels of nested Arrays and Hashes that JSON reads (its limit is 100, and the session is one).
      DEEPEST = 99
      # With three digits of the fraction of a second.
      TIME = ->(time) { time.xmlschema(3) }
      # The forms of instances, by the names of their classes, which need not be loaded.
      FORMS = {
        "Symbol" => :to_s, "Range" => :to_s, "Regexp" => :to_s, "URI::Generic" => :to_s, "Pathname" => :to_s,
        "IPAddr" => :to_s, "Time" => TIME, "ActiveSupport::TimeWithZone" => TIME, "DateTime" => TIME,
        "Date" => ->(date) { date.strftime("%Y-%m-%d") }, "Set" => :to_a, "Struct" => :to_h,
        "ActiveSupport::Duration" => :to_i, "ActionController::Parameters" => :to_unsafe_h,
        "BigDecimal" => ->(number) { number.finite? ? number.to_s("F") : number.to_f }
      }.transform_values(&:to_proc).freeze
      # Classes whose to_s is their form as a key of a Hash.
      KEYS = [Symbol, Integer, Float, nil, true, false, Time, Date].freeze
      # Encodings of Strings without a declared encoding; Rack's have the first.
      UNTOLD = [Encoding::BINARY, Encoding::US_ASCII].freeze
      # A BasicObject has no such methods.
      CLASS = Kernel.instance_method(:class)
      # A class may have a method "name" of its own, with arguments.
      NAME = Module.instance_method(:name)
      private_constant :TIME, :FORMS, :KEYS, :UNTOLD, :CLASS, :NAME

      class << self
        # @param session [Hash{String => Object}]
        # @param watched [Boolean] values that change their class are errors, too
        # @yieldparam error [LossyValueError, ConvertedValueError] of each value that is left out
        # @return [Hash{String => Object}] what JSON brings back: the same object where nothing is to be converted
        def convert(session, watched: false, &left_out)
          kept = session.all? { |key, value| plain?(key) && kept?(value) }
          kept ? session : new(left_out, watched).pairs(session)
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
      # @param watched [Boolean] it is also called with a ConvertedValueError
      def initialize(left_out, watched)
        @left_out = left_out
        @converted = watched ? left_out : nil
        @path = []
      end

      # @param values [Hash]
      # @return [Hash{String => Object}]
      def pairs(values)
        values.each_with_object({}) { |(key, value), kept| at(key) { kept[name(key)] = walk(value) } }
      end

      private

      def walk(value)
        return value if JsonRoundTrip.kept?(value, @path.size)

        case value
        when Float then leave_out(value.class, "#{value}, which JSON does not have")
        when String then text(value)
        when Array then list(deep_enough(value))
        when Hash then pairs(deep_enough(value))
        else walk(form(value, CLASS.bind_call(value)))
        end
      end

      def list(values)
        values.each_with_index.map { |value, index| at(index) { walk(value) } }
      end

      def form(value, type)
        form = FORMS.values_at(*type.ancestors.map { |each| NAME.bind_call(each) }).compact.first
        return leave_out(type, "a #{type}, which has no form in JSON") unless form

        @converted&.call(ConvertedValueError.new(@path, type))
        form.call(value)
      end

      def name(key)
        case key
        when String then text(key)
        when *KEYS
          @converted&.call(ConvertedValueError.new(@path, key.class, keys: true))
          text(key.to_s)
        else leave_out(key.class, "stored under a #{key.class}, which is not a name")
        end
      end

      def text(value)
        text = String.new(value)
        text.force_encoding(Encoding::UTF_8) if UNTOLD.include?(text.encoding)
        text = text.encode(Encoding::UTF_8)
        text.valid_encoding? ? text : raise(EncodingError)
      rescue EncodingError
        leave_out(value.class, "a String of #{value.encoding}, which is not valid UTF-8")
      end

      # The whole value of the session is left out: a structure that contains itself has no end.
      def deep_enough(value)
        return value if @path.size <= DEEPEST

        leave_out(Array, "nested more than #{DEEPEST} levels deep", 1)
      end

      # @return [Object, nil] the block's; nil: what is at this step was left out
      def at(step)
        @path.push(step)
        catch(@path.size) { yield }
      ensure
        @path.pop
      end

      def leave_out(type, reason, level = @path.size)
        @left_out&.call(LossyValueError.new(@path.first(level), type, reason))
        throw level
      end
    end
  end
end
