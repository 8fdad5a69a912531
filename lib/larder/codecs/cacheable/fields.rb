# frozen_string_literal: true

# Turns an object into a Hash of fields, and back. It calls no setter, and no constructor except Data's, which has no
# other way: the object was valid when it was written.

module Larder
  module Cacheable
    # Finds how to take objects apart, by the kind of their class.
    # @api private
    module Fields
      # @param type [Class]
      # @param only [Array<Symbol>, nil]
      # @param typed [Boolean] does FieldTypes convert times and decimals?
      # @return [#take, #make, #new?]
      def self.for(type, only, typed: false)
        if defined?(ActiveRecord::Base) && type < ActiveRecord::Base then OfRecord.new(type, only, typed)
        elsif type < ::Struct then OfStruct.new(type, only)
        elsif defined?(::Data) && ::Data.respond_to?(:define) && type < ::Data then OfData.new(type, only)
        elsif defined?(ActiveModel::Attributes) && type < ActiveModel::Attributes then OfModel.new(type, only)
        else OfObject.new(type, only)
        end
      end

      # The base of all kinds.
      class Of
        def initialize(type, only)
          @type = type
          @only = only
        end

        # @return [Boolean] is it a record that is not in the database yet?
        def new?(_object)
          false
        end

        private

        # @return [Boolean] is it read, whatever the bytes hold?
        def kept?(name)
          @only.nil? || @only.include?(name)
        end
      end

      # Struct: by its members.
      class OfStruct < Of
        # @return [Hash{String => Object}]
        def take(object)
          (@only || object.members).to_h { |name| [name.to_s, object[name]] }
        end

        # @param type [Class] the class of the object, or a subclass
        # @param fields [Hash{String => Object}] those that the class does not have any more are left out
        # @return [Object]
        def make(type, fields, _is_new = false)
          object = type.allocate
          object.members.each { |name| object[name] = fields[name.to_s] if kept?(name) && fields.key?(name.to_s) }
          object
        end
      end

      # Data: made with its constructor and all members.
      class OfData < Of
        def take(object)
          (@only || object.members).to_h { |name| [name.to_s, object.public_send(name)] }
        end

        def make(type, fields, _is_new = false)
          type.new(**type.members.to_h { |name| [name, kept?(name) ? fields[name.to_s] : nil] })
        end
      end

      # ActiveModel::Attributes: by its attributes, which are not cast again. One that came later has its default.
      class OfModel < Of
        def take(object)
          @only ? object.attributes.slice(*@only.map(&:name)) : object.attributes
        end

        def make(type, fields, _is_new = false)
          attributes = type._default_attributes.deep_dup
          type.attribute_names.each do |name|
            attributes.write_cast_value(name, fields[name]) if fields.key?(name) && kept?(name.to_sym)
          end
          object = type.allocate
          object.instance_variable_set(:@attributes, attributes)
          object
        end
      end

      # ActiveRecord: the columns, without loaded associations; see Declaration for serializers that keep associations.
      class OfRecord < Of
        TIMES = %i[datetime timestamp timestamptz time].freeze
        private_constant :TIMES

        def initialize(type, only, typed)
          super(type, only)
          @typed = typed
          @attributes = ActiveRecord::Base.instance_method(:attributes_for_database) # below a Guard
        end

        def take(object)
          values = values_of(object)
          values = values.slice(*@only.map(&:name)) if @only
          @typed ? values : values.transform_values { |value| plain(value) }
        end

        def make(type, fields, is_new = false)
          values = fields.select { |name, _| kept?(name.to_sym) }
          values.each_pair { |name, value| values[name] = from_text(type, name, value) if value.is_a?(String) }
          type.allocate.init_with_attributes(type.attributes_builder.build_from_database(values), is_new)
        end

        def new?(record)
          record.new_record?
        end

        private

        def values_of(record)
          @attributes.bind_call(record)
        rescue ::RangeError => e
          raise unless OwnFailure.again?(e) { @attributes.bind_call(record) }

          # "3000000000 is out of range": without the value
          raise UnserializableError, "cached_with of #{record.class}: #{e.message.sub(/\A\S+ is /, "a value is ")}"
        end

        # As text that the column's type reads again, or from_text.
        def plain(value)
          case value
          when Time, DateTime then FieldTypes.time_text(value)
          when Date, BigDecimal, ActiveModel::Type::Binary::Data then value.to_s
          else value
          end
        end

        # Times without Rails' reading of text, which knows microseconds and a zone of its own; bytes as PostgreSQL's
        # type tells them from its text.
        def from_text(type, name, value)
          kind = type.type_for_attribute(name).type
          if TIMES.include?(kind) then FieldTypes.time(value) || value
          elsif kind == :binary then ActiveModel::Type::Binary::Data.new(value)
          else value
          end
        end
      end

      # Any other class: by its instance variables.
      class OfObject < Of
        def take(object)
          return @only.to_h { |name| [name.to_s, object.instance_variable_get(:"@#{name}")] } if @only

          object.instance_variables.to_h { |name| [name.name.delete_prefix("@"), object.instance_variable_get(name)] }
        end

        def make(type, fields, _is_new = false)
          object = type.allocate
          fields.each_pair do |name, value|
            object.instance_variable_set(:"@#{name}", value) if kept?(name.to_sym)
          end
          object
        end
      end
    end
  end
end
