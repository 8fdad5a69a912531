# frozen_string_literal: true

# Converts fields with declared types to the text, numbers and bytes that every serializer has, and back. It does not
# use the casts of ActiveModel, which depend on Time.zone, microseconds and four-byte integers, except for types that an
# application registered itself.

require "bigdecimal"
require "date"
require "zlib"

module Larder
  module Cacheable
    # `fields:` with types, of one declaration. A value that is none of its field's type is refused when it is stored.
    #
    # A field is known in bytes by a number of its name and type, so an entry tells what was written: other fields stay
    # readable in any order, and a field that has another type now makes the entry unreadable.
    # @api private
    class FieldTypes
      KNOWN = %i[integer big_integer string text immutable_string boolean float decimal date datetime time
                 binary].freeze
      SAME = { big_integer: :integer, text: :string, immutable_string: :string, time: :datetime }.freeze
      WHOLE = -(1 << 63)..((1 << 63) - 1)
      # Integers that are a Float each.
      EXACT = -(1 << 53)..(1 << 53)
      DECIMAL = /\A(?:-?\d+(?:\.\d+)?(?:e-?\d+)?|-?Infinity|NaN)\z/i
      DATE = /\A(-?\d{4,6})-(\d\d)-(\d\d)\z/
      TIME = /\A(-?\d{4,6})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{9})Z\z/
      # Bytes, where there is text only (RFC 2397).
      BYTES = "data:;base64,"
      # Serializers that have text only.
      TEXTS = %i[json active_support_json xml].freeze
      # The day of 1970-01-01 as DateTime#ajd counts.
      EPOCH = 4_881_175/2r
      # What take and make answer for what is no value of the type.
      WRONG = Object.new.freeze
      private_constant :KNOWN, :SAME, :WHOLE, :EXACT, :DECIMAL, :DATE, :TIME, :BYTES, :TEXTS, :EPOCH, :WRONG

      # @return [Hash{String => Symbol}] names and types, those that are the same under one name
      attr_reader :kinds

      # @param fields [Hash{Symbol => Symbol}] names and types
      # @param owner [String] for messages
      # @raise [ArgumentError] a type that nobody knows
      def initialize(fields, owner)
        @registered = {}
        @kinds = fields.to_h { |name, kind| [name.to_s, known(name, kind, owner)] }
        @numbers = @kinds.to_h { |name, kind| [name, FieldTypes.number(name, kind)] }
        same = @numbers.group_by(&:last).each_value.find { |pairs| pairs.size > 1 }
        return unless same

        raise ::ArgumentError, "fields: of #{owner} cannot tell #{same.map(&:first).join(" from ")} in its bytes; " \
                               "rename one"
      end

      # @return [Integer] of 32 bits
      def self.number(name, kind)
        Zlib.crc32("#{name}\0#{kind}")
      end

      # @return [Time] in UTC
      # @return [nil] it is no text of a time
      def self.time(text)
        found = TIME.match(text) or return

        Time.utc(*found.captures.first(6).map(&:to_i), Rational(found[7].to_i, 1000))
      end

      # @param time [Time, DateTime, ActiveSupport::TimeWithZone]
      # @return [String] of the moment, to the nanosecond
      def self.time_text(time)
        time = Time.at((time.ajd - EPOCH) * 86_400) if time.is_a?(::DateTime)
        time.getutc.strftime("%Y-%m-%dT%H:%M:%S.%9NZ")
      end

      # @return [Array<Integer>] of all fields, in their order
      def numbers
        @numbers.values
      end

      # @param row [Hash{String => Object}] becomes what a serializer gets
      # @param type [Class] whose row it is, for messages
      # @param serializer [Symbol]
      # @return [Hash]
      # @raise [Larder::UnserializableError] names the class and the field
      def take(row, type, serializer)
        @kinds.each_pair do |name, kind|
          value = row[name]
          next if value.nil?

          plain = taken(kind, value, type, name)
          wrong(type, name, kind, value) if WRONG.equal?(plain)
          plain = "#{BYTES}#{[plain].pack("m0")}" if kind == :binary && TEXTS.include?(serializer)
          row[name] = plain
        end
        row
      end

      # @param row [Hash{String => Object}] from a serializer
      # @param serializer [Symbol]
      # @return [Hash]
      # @raise [Larder::UnreadableError]
      def make(row, serializer)
        @kinds.each_pair do |name, kind|
          plain = row[name]
          next if plain.nil?

          value = kind == :binary && TEXTS.include?(serializer) ? bytes_of(plain) : made(kind, plain)
          raise UnreadableError, "damaged (#{name} is no #{kind.inspect})" if WRONG.equal?(value)

          row[name] = value
        end
        row
      end

      # @param written [Array<Integer>] numbers of an entry
      # @raise [Larder::UnreadableError] a field had another type
      def check(written)
        return if written == numbers

        @kinds.each_key do |name|
          next if written.include?(@numbers[name])

          was = (KNOWN - SAME.keys + @registered.keys).find { |kind| written.include?(FieldTypes.number(name, kind)) }
          raise UnreadableError, "another type (#{name} was #{was.inspect} and is #{@kinds[name].inspect})" if was
        end
      end

      # @param written [Array<Integer>] numbers of an entry, in the order of its fields
      # @return [Class] of google-protobuf: the fields of both
      def schema(written)
        require "larder/codecs/serializers/protobuf_schema"
        places = @numbers.transform_values { |number| written.index(number) }.compact
        Serializers::ProtobufSchema.of(@kinds.slice(*places.keys), places.transform_values { |place| place + 1 })
      end

      private

      def known(name, kind, owner)
        return SAME.fetch(kind, kind) if KNOWN.include?(kind)

        @registered[kind] = registered(kind)
        return kind if @registered[kind]

        raise ::ArgumentError, "fields: of #{owner} has an unknown type #{kind.inspect} for #{name.inspect}; " \
                               "known: #{KNOWN.map(&:inspect).join(", ")}, and those that ActiveModel::Type.register " \
                               "was told"
      end

      def registered(kind)
        require "active_model/type"
        ActiveModel::Type.lookup(kind)
      rescue ::ArgumentError => e
        raise unless OwnFailure.again?(e) { ActiveModel::Type.lookup(kind) }
        # nil: nobody knows it, said by the caller
      end

      def wrong(type, name, kind, value)
        given = UnserializableError.kind_of(value)
        raise UnserializableError, "cached_with of #{type}: the field #{name} is #{given}, which is no " \
                                   "#{kind.inspect}#{" of 8 bytes" if kind == :integer && value.is_a?(::Integer)}"
      end

      def taken(kind, value, type, name)
        case kind
        when :integer then value.is_a?(::Integer) && WHOLE.cover?(value) ? value : WRONG
        when :string then value.instance_of?(::String) ? value : WRONG
        when :boolean then [true, false].include?(value) ? value : WRONG
        when :float then take_float(value)
        when :decimal then take_decimal(value)
        when :date then take_date(value)
        when :datetime then take_time(value)
        when :binary then take_binary(value)
        else take_registered(kind, value, type, name)
        end
      end

      def take_float(value)
        return value if value.is_a?(::Float)

        value.is_a?(::Integer) && EXACT.cover?(value) ? value.to_f : WRONG
      end

      def take_decimal(value)
        return value.to_s if value.is_a?(::BigDecimal)

        value.is_a?(::Integer) ? BigDecimal(value).to_s : WRONG
      end

      def take_date(value)
        return WRONG unless value.instance_of?(::Date) && value.start == ::Date::ITALY

        text = value.iso8601
        text.match?(DATE) ? text : WRONG
      end

      # ActiveSupport::TimeWithZone says that it is a Time.
      def take_time(value)
        return WRONG unless value.is_a?(::Time) || value.is_a?(::DateTime)

        text = FieldTypes.time_text(value)
        text.match?(TIME) ? text : WRONG
      end

      def take_binary(value)
        return value.b if value.is_a?(::String)

        defined?(ActiveModel::Type::Binary::Data) && value.is_a?(ActiveModel::Type::Binary::Data) ? value.to_s.b : WRONG
      end

      def take_registered(kind, value, type, name)
        @registered.fetch(kind).serialize(value)
      rescue ::ArgumentError, ::RangeError, ::TypeError, ::NoMethodError => e
        raise unless OwnFailure.again?(e) { @registered.fetch(kind).serialize(value) }

        raise UnserializableError, "cached_with of #{type}: the field #{name} is not a #{kind.inspect} (#{e.class})"
      end

      def made(kind, plain)
        case kind
        when :integer then plain.is_a?(::Integer) ? plain : WRONG
        when :string then plain.is_a?(::String) ? plain : WRONG
        when :boolean then [true, false].include?(plain) ? plain : WRONG
        when :float then plain.is_a?(::Float) || plain.is_a?(::Integer) ? plain.to_f : WRONG
        when :binary then plain.is_a?(::String) ? plain.b : WRONG
        when :decimal, :date, :datetime then plain.is_a?(::String) ? made_of_text(kind, plain) : WRONG
        else @registered.fetch(kind).deserialize(plain)
        end
      end

      def bytes_of(text)
        text.is_a?(::String) && text.start_with?(BYTES) ? text.delete_prefix(BYTES).unpack1("m0") : WRONG
      end

      def made_of_text(kind, text)
        case kind
        when :decimal then text.match?(DECIMAL) ? BigDecimal(text) : WRONG
        when :datetime then FieldTypes.time(text) || WRONG
        else
          found = DATE.match(text)
          found ? ::Date.new(*found.captures.map(&:to_i)) : WRONG
        end
      end
    end
  end
end
