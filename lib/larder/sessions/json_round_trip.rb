# frozen_string_literal: true

# Converts a session's values to what JSON brings back unchanged, and names the place of a value that it cannot convert.

require "set"
require "time"

module Larder
  module Sessions
    # A value of a session that its serializer cannot keep. The message names the key and the remedy.
    class LossyValueError < Error; end

    # JSON keeps nil, true, false, Integers, finite Floats, Strings of valid UTF-8, and Arrays and Hashes of these whose
    # keys are Strings. Other values become the forms that Rails' JSON cookies give them by default: a Symbol a String,
    # a Time its ISO 8601 text, a Set an Array, a Struct a Hash. What has no such form, as a record, is refused.
    module JsonRoundTrip
      # Levels of nested Arrays and Hashes that JSON reads (its limit is 100, and the session is one).
      DEEPEST = 99
      # Characters of a key in a message.
      LONGEST_SHOWN = 60
      # Digits of a Time's fraction of a second.
      PRECISION = 3
      # Encodings of Strings without a declared encoding; Rack's have the first.
      UNTOLD = [Encoding::BINARY, Encoding::US_ASCII].freeze
      # Classes whose form as a value is their to_s, and those whose form as a key of a Hash is.
      NAMES = [Symbol, Range, Regexp].freeze
      KEYS = [Symbol, Integer, Float, nil, true, false, Time, Date].freeze
      private_constant :UNTOLD, :NAMES, :KEYS

      module_function

      # @param session [Hash{String => Object}]
      # @return [Hash{String => Object}] what JSON brings back: the same object where nothing is to be converted
      # @raise [LossyValueError] for the first value that has no form in JSON
      def convert(session)
        session.each { |key, value| return converted(session) unless plain?(key) && kept?(value) }
        session
      end

      # @param session [Hash{String => Object}]
      # @yieldparam error [LossyValueError] of each key that is left out
      # @return [Hash{String => Object}] what JSON brings back of it
      def convertible(session)
        session.each_with_object({}) do |(key, value), kept|
          kept.update(convert(key => value))
        rescue LossyValueError => error
          yield error if block_given?
        end
      end

      # By case, because an ActiveSupport::Duration answers is_a?(Integer) with true.
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
      def plain?(value)
        value.instance_of?(String) &&
          (value.ascii_only? || (value.encoding == Encoding::UTF_8 && value.valid_encoding?))
      end

      def converted(session)
        kept = session
        path = []
        session.each do |key, value|
          now = at(path, key) { walk(value, path) }
          name = plain?(key) ? key : at(path, key) { text(key, path) }
          next if now.equal?(value) && name.equal?(key)

          kept = kept.dup if kept.equal?(session)
          kept.delete(key) unless name.equal?(key)
          kept[name] = now
        end
        kept
      end

      # @param path [Array] the steps to the value, while it is looked at
      def walk(value, path)
        case value
        when nil, true, false, Integer then value
        when Float then finite(value, path)
        when String then text(value, path)
        when Array then list(value, path)
        when Hash then hash(value, path)
        when *NAMES then text(value.to_s, path)
        when Time, DateTime then value.xmlschema(PRECISION)
        when Date then value.strftime("%Y-%m-%d")
        when Set then list(value.to_a, path)
        when Struct then hash(value.to_h, path)
        else by_name(value, path)
        end
      end

      # By the names of classes that may not be loaded.
      def by_name(value, path)
        names = value.class.ancestors.map(&:name)
        case (names & %w[ActiveSupport::Duration BigDecimal ActionController::Parameters URI::Generic Pathname
                         IPAddr]).first
        when "ActiveSupport::Duration" then walk(value.to_i, path)
        when "BigDecimal" then finite(value, path).to_s("F")
        when "ActionController::Parameters" then walk(value.to_unsafe_h, path)
        when nil then refuse(path, "a #{value.class}, which has no form in JSON")
        else text(value.to_s, path)
        end
      end

      def finite(number, path)
        number.finite? ? number : refuse(path, "#{number}, which JSON does not have")
      end

      def text(value, path)
        return value if plain?(value)

        told = UNTOLD.include?(value.encoding) ? String.new(value).force_encoding(Encoding::UTF_8) : String.new(value)
        told = told.encode(Encoding::UTF_8)
        told.valid_encoding? ? told : refuse_bytes(value, path)
      rescue EncodingError
        refuse_bytes(value, path)
      end

      def refuse_bytes(value, path)
        refuse(path, "a String of #{value.encoding}, which is no valid UTF-8")
      end

      def list(value, path)
        deeper(path)
        same = value.instance_of?(Array)
        kept = value.each_with_index.map do |each, index|
          at(path, index) { walk(each, path) }.tap { |now| same &&= now.equal?(each) }
        end
        same ? value : kept
      end

      def hash(value, path)
        deeper(path)
        same = value.instance_of?(Hash)
        kept = value.each_with_object({}) do |(key, each), others|
          now = at(path, key) { walk(each, path) }
          name = at(path, key) { name(key, path) }
          same &&= now.equal?(each) && name.equal?(key)
          others[name] = now
        end
        same ? value : kept
      end

      def name(key, path)
        case key
        when String then text(key, path)
        when *KEYS then text(key.to_s, path)
        else refuse(path, "kept under a #{key.class}, which is no name")
        end
      end

      def at(path, step)
        path.push(step)
        yield.tap { path.pop }
      end

      def deeper(path)
        refuse(path.first(1), "nested more than #{DEEPEST} levels deep") if path.size > DEEPEST
      end

      def refuse(path, what)
        where = path.map { |step| "[#{shown(step)}]" }.join
        raise LossyValueError, "session#{where} is #{what}. Keep what JSON has in sessions (of a record its id, of " \
                               "bytes their Base64), or choose serializer: :marshal."
      end

      def shown(step)
        text = step.inspect
        text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
      end
      private_class_method :plain?, :converted, :walk, :by_name, :finite, :text, :refuse_bytes, :list, :hash, :name,
                           :at, :deeper, :refuse, :shown
    end
  end
end
