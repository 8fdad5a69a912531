# frozen_string_literal: true

# Classes of the application: Structs, Data, records, and what descends from URI. Neither their constructors nor methods
# that they have over Ruby's own are called, when they are taken and when they are made.

require "larder/larder"
require "larder/codecs/tree/parts"

module Larder
  module Tree
    # Found by what they descend from.
    # @api private
    module Types
      STRUCT_VALUES = ::Struct.instance_method(:to_a)
      STRUCT_MEMBERS = ::Struct.instance_method(:members)
      STRUCT_SET = ::Struct.instance_method(:[]=)
      DATA_VALUES = (::Data.instance_method(:to_h) if defined?(::Data) && ::Data.respond_to?(:define))
      DATA_INITIALIZE = (::Data.instance_method(:initialize) if DATA_VALUES)
      private_constant :STRUCT_VALUES, :STRUCT_MEMBERS, :STRUCT_SET, :DATA_VALUES, :DATA_INITIALIZE

      private

      def take_struct(struct)
        return unless Parts.plain?(struct)

        [STRUCT, [name_of(Parts.type(struct)), STRUCT_MEMBERS.bind_call(struct), STRUCT_VALUES.bind_call(struct)]]
      end

      # Members that the class does not have any more make it unreadable: nobody knows what they would mean.
      def make_struct(name, members, values, trusted)
        make_structs(name, members, [values], trusted).then { |made| made == UNREADABLE ? made : made.first }
      end

      # Of one class: its name and members once.
      def take_structs(list, type)
        return unless list.all? { |struct| Parts.type(struct).equal?(type) && Parts.plain?(struct) }

        rows = list.map { |struct| STRUCT_VALUES.bind_call(struct) }
        [STRUCTS, [name_of(type), STRUCT_MEMBERS.bind_call(list.first), rows]]
      end

      def make_structs(name, members, rows, trusted)
        type = type_named(name, ::Struct, trusted)
        return UNREADABLE unless type && STRUCT_MEMBERS.bind_call(type.allocate) == members &&
                                 rows.all? { |row| row.instance_of?(Array) && row.size == members.size }
        return rows.map { |row| type.new(*row) } if made_by_ruby?(type)

        rows.map do |row|
          struct = type.allocate
          row.each_with_index { |value, i| STRUCT_SET.bind_call(struct, i, value) }
          struct
        end
      end

      # Its constructor does nothing of its own, and takes values in order.
      def made_by_ruby?(type)
        type.instance_method(:initialize).owner.equal?(::Struct) && !type.keyword_init? &&
          type.method(:new).source_location.nil?
      end

      def take_data(data)
        fields = DATA_VALUES.bind_call(data)
        [DATA, [name_of(Parts.type(data)), fields.keys, fields.values]] if Parts.plain?(data)
      end

      def make_data(name, members, values, trusted)
        type = type_named(name, ::Data, trusted)
        return UNREADABLE unless type && type.members == members && values.size == members.size

        type.allocate.tap { |data| DATA_INITIALIZE.bind_call(data, **members.zip(values).to_h) }
      end

      def take_record(record, known)
        [RECORD, Records.take(record, known)]
      end

      def take_records(list, natural, known)
        last = nil
        all = list.all? do |object|
          type = Parts.type(object)
          type.equal?(last) || (taker_of(type, natural) == :take_record && (last = type))
        end
        [RECORDS, Records.take(list, known)] if all
      end

      def make_records(target, entries, trusted, known)
        Records.make(target, entries, trusted, known)
      end

      def name_of(type)
        NAME_OF.bind_call(type).to_sym
      end

      # ---- which class is taken how ----

      def taker_of(type, natural)
        taker, path = @takers[type.__id__] ||= find_taker(type)
        return :none if Cacheable.of_type(type) || (!natural && left_to_marshal?(taker))

        path && !named?(path, type) ? :none : taker
      end

      # Records where the application keeps all their state, and not their attributes alone (Rails' own format 7.1,
      # which is that of new applications). The state contains the plain text of encrypted attributes that were read, so
      # it is not kept where any class has such attributes.
      def left_to_marshal?(taker)
        taker == :take_record && ActiveRecord::Marshalling.format_version < 7.1 && !Records::Encrypted.used?
      end

      # Only what its name leads to; of classes of the application also the path of the name, which may come to lead to
      # another class, or to none.
      def find_taker(type)
        name = NAME_OF.bind_call(type)
        path = name.split("::").map(&:to_sym) if name&.match?(Parts::NAME)
        return [:none] unless path && named?(path, type)

        TAKERS.key?(name) ? [TAKERS[name]] : [taker_of_kin(type) || :none, path]
      end

      def taker_of_kin(type)
        return if HOOKS.any? { |hook| hooked?(type, hook) }

        if type < ::Struct then :take_struct
        elsif DATA_VALUES && type < ::Data then :take_data
        elsif defined?(ActiveRecord::Base) && type < ActiveRecord::Base then :take_record
        elsif defined?(::URI::Generic) && type <= ::URI::Generic then :take_uri
        end
      end

      # Whose class has Marshal ask it; ActiveRecord's own hook is known.
      def hooked?(type, hook)
        return false unless type.method_defined?(hook) || type.private_method_defined?(hook)

        record = defined?(ActiveRecord::Base) && type < ActiveRecord::Base && ActiveRecord::Base.method_defined?(hook)
        !record || type.instance_method(hook).owner != ActiveRecord::Base.instance_method(hook).owner
      end
    end
  end
end
