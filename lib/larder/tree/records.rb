# frozen_string_literal: true

# ActiveRecord's records as plain values: what Rails keeps of one in its own Marshal and MessagePack formats, which is
# its attributes as the database has them, whether it is new, and the associations that were loaded. Loaded only where
# there is ActiveRecord.

module Larder
  module Tree
    # Records and those they have loaded, each once in a value: [class, attributes, new?, name, number or numbers, …]. A
    # number is the place of another, counted from the first record of the value; one whose class says how it is cached
    # stands there itself, for whoever keeps it.
    module Records
      # Takes the records of one value apart.
      class Taking
        def initialize
          @entries = []
          @given = 0
          @numbers = {}.compare_by_identity
          @names = Hash.new { |names, type| names[type] = type.name.to_sym }.compare_by_identity
        end

        # @param target [Array<ActiveRecord::Base>, ActiveRecord::Base, nil]
        # @return [Array<Integer, ActiveRecord::Base>, Integer, ActiveRecord::Base, nil]
        def take(target)
          return target.map { |record| number_of(record) } if target.is_a?(Array)

          number_of(target) if target
        end

        # @return [Array<Array>] of the records that came since it was asked last
        def new_entries
          @entries.drop(@given).tap { @given = @entries.size }
        end

        private

        def number_of(record)
          return record if Cacheable.of_type(record.class)

          @numbers[record] || begin
            attributes = record.attributes_for_database
            refuse(record) unless whole?(record, attributes)
            number = @numbers[record] = @entries.size
            entry = [@names[record.class], attributes, record.new_record?]
            @entries << entry
            add_associations(record, entry)
            number
          end
        end

        # What nobody would know of one that came back.
        def refuse(record)
          raise UnserializableError, "a #{record.class} that is destroyed, read-only, strict, of some columns only, " \
                                     "or has methods of its own"
        end

        # Nothing but its attributes: Rails' own formats lose the rest and do not say so.
        def whole?(record, attributes)
          type = record.class
          !Tree.singular?(record) && !record.instance_variable_get(:@destroyed) &&
            !record.instance_variable_get(:@readonly) &&
            record.instance_variable_get(:@strict_loading) == type.strict_loading_by_default &&
            attributes.size == type.attribute_names.size && selected?(record, attributes)
        end

        # Columns that were not selected are nil among the others.
        def selected?(record, attributes)
          attributes.each_pair { |name, value| return false if value.nil? && !record.has_attribute?(name) }
          true
        end

        def add_associations(record, entry)
          record.class.reflect_on_all_associations.each do |reflection|
            name = reflection.name
            next unless record.association_cached?(name)

            association = record.association(name)
            entry << name << take(association.target) if association.loaded? || association.target.present?
          end
        end
      end

      module_function

      # @param target [Array<ActiveRecord::Base>, ActiveRecord::Base]
      # @param known [Array] empty at first: what is known of the value's records
      # @return [Array(Array<Integer>, Array<Array>), Array(Integer, Array<Array>)] places, or a place, and new entries
      def take(target, known)
        taking = (known[0] ||= Taking.new)
        [taking.take(target), taking.new_entries]
      end

      # @param places [Array<Integer>]
      # @param entries [Array<Array>]
      # @param trusted [Boolean] may a class be loaded for them?
      # @param known [Array<ActiveRecord::Base>] the value's records so far; these are added
      # @return [Array<ActiveRecord::Base>]
      def make(places, entries, trusted, known)
        types = Hash.new { |found, name| found[name] = type_named(name, trusted) }
        records = entries.map { |name, attributes, is_new| made(types[name], attributes, is_new) }
        known.concat(records)
        records.zip(entries) { |record, entry| associate(record, entry, known) if entry.size > 3 }
        places.map { |place| known.fetch(place) }
      end

      def type_named(name, trusted)
        Tree.type_named(name, ActiveRecord::Base, trusted) or raise UnreadableError, "no such class (#{name})"
      end

      def made(type, attributes, is_new)
        type.allocate.init_with_attributes(type.attributes_builder.build_from_database(attributes), is_new)
      end

      def associate(record, entry, records)
        entry.drop(3).each_slice(2) do |name, target|
          next unless record.class.reflect_on_association(name) # it may be gone

          target = target.is_a?(Array) ? target.map { |at| at(at, records) } : target && at(target, records)
          record.association(name).target = target
        end
      end

      def at(place, records)
        return records.fetch(place) if place.is_a?(Integer)

        place.is_a?(ActiveRecord::Base) ? place : raise(UnreadableError, "damaged (no record)")
      end
      private_class_method :type_named, :made, :associate, :at
    end
  end
end
