# frozen_string_literal: true

# ActiveRecord's records as plain values: what Rails keeps of one in its own Marshal and MessagePack formats, which is
# its attributes as the database has them, whether it is new, and the associations that were loaded. Loaded only where
# there is ActiveRecord.
#
# Encrypted attributes are kept as ciphertext, also if they were read.

module Larder
  module Tree
    # Records and those they have loaded, each once in a value: [class, attributes, new?, name, number or numbers, …]. A
    # number is the place of another, counted from the first record of the value; one whose class says how it is cached
    # stands there itself, for whoever keeps it.
    module Records
      # The attributes of a record, by name.
      module Attributes
        module_function

        # @param record [ActiveRecord::Base]
        # @param type [Class] of it
        # @return [Hash{String => Object}, nil] each as the database has it; nil: not all columns were selected, or more
        def of(record, type)
          set = record.instance_variable_get(:@attributes)
          lazy = set.instance_of?(ActiveModel::LazyAttributeSet)
          (unconverted(set, type) if lazy) || converted(record, set, type)
        end

        # Most are as the database gave them: Rails would convert them to Ruby's objects and back, ten times as long.
        # Those that were read may have been changed in place.
        def unconverted(set, type)
          names = type.attribute_names
          given = set.instance_variable_get(:@values)
          read = set.instance_variable_get(:@casted_values)
          made = set.instance_variable_get(:@attributes)
          return unless given && read && made && made.size < names.size && given.keys == names

          values = given.to_hash
          return values if made.empty? && read.all? { |name, value| value.equal?(values[name]) }

          merged(set, values, read.reject { |name, value| value.equal?(values[name]) }.keys | made.keys, type)
        end

        def merged(set, values, changed, type)
          return unless changed.all? { |name| values.key?(name) }

          encrypted = Encrypted.names(type)
          values.merge(changed.to_h do |name|
            [name, encrypted.include?(name) ? Encrypted.value(set[name]) : set[name].value_for_database]
          end)
        end

        # Columns that were not selected are nil among the others.
        def converted(record, set, type)
          attributes = Encrypted.as_usual(type) { record.attributes_for_database }
          return unless attributes.size == type.attribute_names.size
          return unless attributes.all? { |name, value| !value.nil? || record.has_attribute?(name) }

          attributes.merge(Encrypted.names(type).to_h { |name| [name, Encrypted.value(set[name])] })
        end
        private_class_method :unconverted, :merged, :converted
      end

      # Attributes of Active Record Encryption. The ciphertext of the database is kept unless the value has changed.
      module Encrypted
        FROM_DATABASE = ActiveModel::Attribute.from_database(nil, nil, nil).class
        private_constant :FROM_DATABASE

        @used = false

        module_function

        # @return [Array<String>] the names of a class's encrypted attributes
        def names(type)
          type.encrypted_attributes&.map(&:name) || []
        end

        # @return [Boolean] has any class encrypted attributes?
        def used?
          @used
        end

        # From now on it notices classes that declare some.
        def watch
          @used = ActiveRecord::Base.descendants.any? { |type| names(type).any? }
          ActiveRecord::Encryption.on_encrypted_attribute_declared { @used = true }
        end

        # Yields in the context that the application has configured, whatever the caller's is: without_encryption would
        # give plain text.
        def as_usual(type = nil, &block)
          type.nil? || names(type).any? ? ActiveRecord::Encryption.with_encryption_context({}, &block) : yield
        end

        # @param attribute [ActiveModel::Attribute] of a record
        # @return [Object] the ciphertext of the database, or, of a value that has changed, another one
        def value(attribute)
          return attribute.value_before_type_cast if kept?(attribute)

          as_usual do
            kept?(attribute) ? attribute.value_before_type_cast : attribute.type.serialize(attribute.value)
          end
        end

        # The value may have been read in this context or in another one.
        def kept?(attribute)
          attribute.instance_of?(FROM_DATABASE) && !(attribute.has_been_read? && attribute.changed_in_place?)
        rescue ActiveRecord::Encryption::Errors::Base
          false
        end
        private_class_method :kept?
      end
      Encrypted.watch

      # Takes the records of one value apart.
      class Taking
        def initialize
          @entries = []
          @given = 0
          @numbers = {}.compare_by_identity
        end

        # Knows no more than before if it raises: of a list that is refused, each is taken by itself.
        #
        # @param target [Array<ActiveRecord::Base>, ActiveRecord::Base]
        # @return [Array<Integer, ActiveRecord::Base>, Integer, ActiveRecord::Base]
        # @raise [UnserializableError] one of the records, or of those that they have loaded, has no such form
        def take(target)
          known = @entries.size
          taken = places_of(target)
        ensure
          forget_from(known) unless taken
        end

        # @return [Array<Array>] of the records that came since it was asked last
        def new_entries
          given, @given = @given, @entries.size
          given.zero? ? @entries.dup : @entries.drop(given)
        end

        private

        def places_of(target)
          return target.map { |record| number_of(record) } if target.instance_of?(Array)

          number_of(target) if target
        end

        def forget_from(count)
          @entries.slice!(count..)
          @numbers.delete_if { |_, number| number >= count }
        end

        def number_of(record)
          @numbers[record] || begin
            type = record.class
            Cacheable.of_type(type) ? record : enter(record, type)
          end
        end

        # A record that is asked for again while its associations are taken has its number already.
        def enter(record, type)
          attributes = Attributes.of(record, type)
          refuse(record) unless attributes && whole?(record, type)
          number = @numbers[record] = @entries.size
          entry = [type.name.to_sym, attributes, record.new_record?]
          @entries << entry
          add_associations(record.instance_variable_get(:@association_cache), type, entry)
          number
        end

        # What nobody would know of one that came back.
        def refuse(record)
          raise UnserializableError, "a #{record.class} that is destroyed, read-only, strict, of some columns only, " \
                                     "or has methods of its own"
        end

        # Nothing but its attributes: Rails' own formats lose the rest and do not say so.
        def whole?(record, type)
          !Tree.singular?(record) && !record.instance_variable_get(:@destroyed) &&
            !record.instance_variable_get(:@readonly) &&
            record.instance_variable_get(:@strict_loading) == type.strict_loading_by_default
        end

        # Those that the class names: others are parts of them.
        def add_associations(associations, type, entry)
          associations.each do |name, association|
            next unless type.reflect_on_association(name)

            target = association.target
            entry << name << places_of(target) if association.loaded? || target.present?
          end
        end
      end

      # Gives the records of one value the associations that they had loaded.
      class Associating
        # @param known [Array<ActiveRecord::Base>] the value's records
        def initialize(known)
          @known = known
          @unused = {}.compare_by_identity
        end

        # @param record [ActiveRecord::Base]
        # @param entry [Array] of it
        # @return [void]
        # @raise [UnreadableError]
        def add(record, entry)
          3.step(entry.size - 1, 2) do |at|
            reflection = record.class.reflect_on_association(entry[at]) or next # it may be gone
            target = entry[at + 1]
            target = target.is_a?(Array) ? target.map { |place| known(place) } : target && known(target)
            association(record, reflection).target = target
          end
        end

        private

        def known(place)
          return @known.fetch(place) if place.is_a?(Integer)

          place.is_a?(ActiveRecord::Base) ? place : raise(UnreadableError, "damaged (no record)")
        end

        # Rails validates the reflection for each association that it makes, so that most are copies of the first.
        def association(record, reflection)
          name = reflection.name
          return copy_of(@unused[reflection], record, name) if @unused[reflection] && !record.association_cached?(name)

          record.association(name).tap do |made|
            @unused[reflection] = made.dup if unused?(made, record, reflection)
          end
        end

        def copy_of(unused, record, name)
          record.__send__(:association_instance_set, name, unused.dup.tap { |copy| copy.owner = record })
        end

        # Has it nothing that copies would share?
        def unused?(association, record, reflection)
          association.instance_variables.all? do |name|
            value = association.instance_variable_get(name)
            value.frozen? || value.equal?(record) || value.equal?(reflection)
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

      # @param place [Integer, Array<Integer>] of what is asked for
      # @param entries [Array<Array>]
      # @param trusted [Boolean] may a class be loaded for them?
      # @param known [Array<ActiveRecord::Base>] the value's records so far; these are added
      # @return [ActiveRecord::Base, Array<ActiveRecord::Base>]
      # @raise [UnreadableError]
      def make(place, entries, trusted, known)
        first = known.size
        has_associations = false
        types = {}
        entries.each do |name, attributes, is_new, association|
          type = (types[name] ||= type_named(name, trusted))
          known << type.allocate.init_with_attributes(type.attributes_builder.build_from_database(attributes), is_new)
          has_associations ||= association
        end
        add_associations(entries, first, known) if has_associations
        place.is_a?(Array) ? place.map { |one| known.fetch(one) } : known.fetch(place)
      end

      def type_named(name, trusted)
        Tree.type_named(name, ActiveRecord::Base, trusted) or raise UnreadableError, "no such class (#{name})"
      end

      def add_associations(entries, first, known)
        associating = Associating.new(known)
        entries.each_with_index { |entry, i| associating.add(known[first + i], entry) if entry.size > 3 }
      end
      private_class_method :type_named, :add_associations
    end
  end
end
