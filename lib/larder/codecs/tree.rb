# frozen_string_literal: true

# Objects other than text, numbers, Arrays and Hashes in Larder's own format (ext/larder/value/tree_format.h): the code
# of each class, and the parts of its objects. The C code calls it for each such object. The kinds of classes are in
# tree/, one file for each.

require "larder/larder"
require "larder/codecs/tree/parts"
require "larder/codecs/tree/times"
require "larder/codecs/tree/numbers"
require "larder/codecs/tree/texts"
require "larder/codecs/tree/collections"
require "larder/codecs/tree/types"
require "larder/bytes/own_failure"
require "larder/codecs/cacheable"

module Larder
  # An object is stored as a code (ext/larder/value/tree_objects.h), which is part of the format and never changes, and
  # its parts, which are plain values or such objects. Others may have written the bytes, so parts are checked, and the
  # size of what they make is limited.
  module Tree
    autoload :Records, "larder/codecs/tree/records"

    # @!parse
    #   # What make returns for parts of which no object can be made.
    #   UNREADABLE = Object.new.freeze

    # @!scope class
    # @!method dump(value, natural)
    #   @api private
    #   @param natural [Boolean, Cacheable::Mixture] as for take
    #   @return [String, nil] the bytes; nil: something in the value has none
    # @!method load(bytes, trusted, kept)
    #   @api private
    #   @return [Array(Object), nil] the value; nil: the bytes are incomplete, or of another kind
    # @!method constant_at(path)
    #   @api private
    #   @param path [Array<Symbol>] the parts of a name
    #   @return [Object] the constant of that name, for which a file may be loaded
    #   @raise [NameError] where there is none
    # @!method named?(path, type)
    #   @api private
    #   @param path [Array<Symbol>] the parts of a name
    #   @param type [Module]
    #   @return [Boolean] is the constant of that name this one, without loading a file?
    # @!method fit?(parts, types)
    #   @api private
    #   @param parts [Object]
    #   @param types [Array<#===>]
    #   @return [Boolean] is it an Array with one for each, and of its kind?
    # @!method singular?(object)
    #   @api private
    #   @return [Boolean] has this one object methods of its own?

    # code => method, classes of its parts, and what else it takes: :load, whether a class may be loaded; :records, that
    # and the records that were made before
    MAKERS = {
      TIME => [:make_time, [Parts::SECONDS, Parts::NANOSECONDS, Parts::OFFSET, Parts::ZONE]],
      TIME_WITH_ZONE => [:make_time_with_zone, [Parts::SECONDS, Parts::NANOSECONDS, Symbol]],
      DATE => [:make_date, [Parts::SECONDS]],
      DATE_TIME => [:make_date_time, [Parts::SECONDS] * 8],
      DECIMAL => [:make_decimal, [String]],
      RATIONAL => [:make_rational, [Integer, Integer]],
      COMPLEX => [:make_complex, [Parts::REAL, Parts::REAL]],
      INTEGER => [:make_integer, [String]],
      RANGE => [:make_range, [Parts::RANGE_END, Parts::RANGE_END, Parts::BOOLEAN]],
      SET => [:make_set, [Array]],
      SAFE_BUFFER => [:make_safe_buffer, [String]],
      INDIFFERENT_HASH => [:make_indifferent_hash, [Array, Array]],
      DURATION => [:make_duration, [Numeric, Hash]],
      STRUCT => [:make_struct, [Symbol, Array, Array], :load],
      DATA => [:make_data, [Symbol, Array, Array], :load],
      RECORD => [:make_records, [Integer, Array], :records],
      BINARY => [:make_binary, [String]],
      URI => [:make_uri, [String]],
      IP_ADDRESS => [:make_ip_address, [String, Integer]],
      PATH => [:make_path, [String]],
      TIME_ZONE => [:make_time_zone, [String]],
      TEXT => [:make_text, [Symbol, String]],
      RECORDS => [:make_records, [Array, Array], :records],
      STRUCTS => [:make_structs, [Symbol, Array, Array], :load]
    }.freeze
    private_constant :MAKERS

    # Classes that are recognized by name; others are recognized by their superclass.
    TAKERS = [Times, Numbers, Texts, Collections].map { |sort| sort::TAKERS }.reduce(:merge).freeze
    private_constant :TAKERS

    HOOKS = %i[marshal_dump _dump].freeze
    NAME_OF = Module.instance_method(:name)
    private_constant :HOOKS, :NAME_OF

    # The keys are ids of classes, so that a class that was reloaded is not kept. Ruby never uses an id again.
    @takers = {}
    @types = {} # the ids of the classes that were found, by name
    @paths = {} # the parts of their names

    class << self
      include Times
      include Numbers
      include Texts
      include Collections
      include Types

      # @param object [Object] that nobody gave methods of its own
      # @param type [Class] of it
      # @param natural [Boolean, Cacheable::Mixture] true: also records where the application keeps all their state; a
      #   mixture: also objects whose class says itself how it is cached, which it keeps
      # @param records [Array, nil] an empty one for the whole value, where Records keeps what it knows
      # @return [Array(Integer, Object), nil] code and parts; nil: of a class, or in a state, that has none
      def take(object, type, natural, records)
        taken(object, type, natural, records)
      rescue UnserializableError
        nil
      rescue *OwnFailure::KINDS => e # of methods that the application gave its class; Marshal is asked then
        raise unless OwnFailure.again?(e) { taken(object, type, natural, []) }
      end

      # @param list [Array] of such objects
      # @param type [Class] of the first
      # @return [Array(Integer, Object), nil] code and parts of all of them together; nil: each is taken by itself
      def take_list(list, type, natural, records)
        taken_list(list, type, natural, records)
      rescue UnserializableError
        nil
      rescue *OwnFailure::KINDS => e
        raise unless OwnFailure.again?(e) { taken_list(list, type, natural, []) }
      end

      # @param code [Integer]
      # @param parts [Object]
      # @param trusted [Boolean] nobody else could write these bytes: classes may be loaded for them
      # @param kept [Array<Array<Object>>, nil] by a mixture, in groups
      # @param records [Array, nil] those that were made so far of the whole value
      # @return [Object] UNREADABLE if no object can be made of these parts
      def make(code, parts, trusted, kept, records)
        count = records&.size
        made(code, parts, trusted, kept, records)
      rescue UnreadableError
        UNREADABLE
      rescue *OwnFailure::KINDS => e
        raise unless OwnFailure.again?(e) { made(code, parts, trusted, kept, records&.first(count)) }

        UNREADABLE
      end

      # @param name [Symbol] of a class of the application
      # @param kin [Class] that it must descend from
      # @param load [Boolean] may a file be loaded for it?
      # @return [Class, nil]
      def type_named(name, kin, load)
        return unless name.is_a?(Symbol)

        known = @types[name]
        return unless known || Parts::NAME.match?(name.name)

        type = known && load ? constant_at(@paths[name]) : Parts.constant(name.name, load: load)
        same = type.__id__ == known
        return unless same || (type.is_a?(Class) && NAME_OF.bind_call(type) == name.name)

        remember(name, type) unless same
        type if type < kin
      end

      private

      def remember(name, type)
        @paths[name] ||= name.name.split("::").map(&:to_sym)
        @types[name] = type.__id__
      end

      def taken(object, type, natural, records)
        return [KEPT, natural.keep(object, type)] if natural.is_a?(Cacheable::Mixture) && natural.keeps?(type)

        taker = taker_of(type, natural)
        return if taker == :none

        taker == :take_record ? take_record(object, records) : __send__(taker, object)
      end

      def taken_list(list, type, natural, records)
        case taker_of(type, natural)
        when :take_record then take_records(list, natural, records)
        when :take_struct then take_structs(list, type)
        end
      end

      def kept_at(kept, parts)
        return UNREADABLE unless kept && fit?(parts, [Parts::PLACE, Parts::PLACE])

        group, number = parts
        kept.fetch(group, []).fetch(number, UNREADABLE)
      end

      def made(code, parts, trusted, kept, records)
        return kept_at(kept, parts) if code == KEPT

        maker, types, more = MAKERS[code]
        return UNREADABLE unless maker && fit?(parts, types)

        case more
        when :records then make_records(parts[0], parts[1], trusted, records)
        when :load then __send__(maker, *parts, trusted)
        else __send__(maker, *parts)
        end
      end
    end

    _loaded
  end
end
