# frozen_string_literal: true

# Owns the question whether JSON brings a value back as it was, and where in a session one stands that it does not.

module Larder
  module Sessions
    # A value of a session that its serializer would not bring back. The message names the key and the remedy.
    class LossyValueError < Error; end

    # What JSON keeps: nil, true, false, Integers, finite Floats, Strings of valid UTF-8, and Arrays and Hashes of
    # these whose keys are Strings; each of exactly that class.
    module JsonRoundTrip
      # Arrays and Hashes within each other that JSON reads (its own limit is 100, of which the session is one).
      DEEPEST = 99
      # Characters of a key in a message.
      LONGEST_SHOWN = 60

      module_function

      # @param session [Hash{String => Object}]
      # @return [void]
      # @raise [LossyValueError] for the first value that JSON would lose or change
      def check(session)
        session.each do |key, value|
          next if plain?(key) && obvious?(value)

          text(key, [key])
          walk(value, [key])
        end
      end

      # What most sessions hold. Asked from the class's side: a Duration of ActiveSupport's says that it is an Integer.
      def obvious?(value)
        case value
        when nil, true, false, Integer then true
        when String then plain?(value)
        else false
        end
      end

      # A text that needs no second look, as nearly all are.
      def plain?(value)
        value.instance_of?(String) &&
          (value.ascii_only? || (value.encoding == Encoding::UTF_8 && value.valid_encoding?))
      end

      def walk(value, path)
        case value
        when nil, true, false, Integer then nil
        when Float then value.finite? || refuse(path, "#{value}, which JSON does not have")
        when String then text(value, path)
        when Array then list(value, path)
        when Hash then hash(value, path)
        else refuse(path, "a #{value.class}, which JSON does not have")
        end
      end

      def text(value, path)
        exactly(String, value, path)
        return if plain?(value)

        refuse(path, "a String of #{value.encoding}, which is no valid UTF-8")
      end

      def list(value, path)
        exactly(Array, value, path)
        deeper(path)
        value.each_with_index { |each, at| walk(each, [*path, at]) }
      end

      def hash(value, path)
        exactly(Hash, value, path)
        deeper(path)
        value.each do |key, each|
          refuse([*path, key], "kept under a #{key.class}, which JSON makes a String") unless key.instance_of?(String)
          text(key, [*path, key])
          walk(each, [*path, key])
        end
      end

      def exactly(type, value, path)
        refuse(path, "a #{value.class}, which JSON brings back as a #{type}") unless value.instance_of?(type)
      end

      def deeper(path)
        refuse(path.first(1), "nested more than #{DEEPEST} levels deep") if path.size > DEEPEST
      end

      def refuse(path, what)
        where = path.map { |step| "[#{shown(step)}]" }.join
        raise LossyValueError, "session#{where} is #{what}. Keep what JSON has in sessions (a Time as iso8601, a " \
                               "Symbol as a String), or choose serializer: :marshal for them."
      end

      def shown(step)
        text = step.inspect
        text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
      end
      private_class_method :obvious?, :plain?, :walk, :text, :list, :hash, :exactly, :deeper, :refuse, :shown
    end
  end
end
