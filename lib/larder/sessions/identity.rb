# frozen_string_literal: true

# Owns what a user is called in a session: who is signed in according to its values, and the name of a user that an
# application asks about.

require "digest"
require_relative "errors"

module Larder
  module Sessions
    # A user's name is a class and an id: "User/42", "Admin::User/7". So of two users no two have one name, whatever
    # their ids are: in an id "/" is written "%2F" and "%" is "%25", and a long id is replaced by "%:" and its digest.
    module Identity
      # Bytes of the longest name.
      MAX = 255
      # The class of whom a plain id names.
      USER = "User"
      # Bytes of the longest name of a class, which leaves room for a digest.
      KIND_MAX = MAX - 67
      KIND = /[A-Z\x80-\xff][\w\x80-\xff]*(?:::[A-Z\x80-\xff][\w\x80-\xff]*)*/n
      NAME = %r{\A(#{KIND})/((?:[^/%]|%25|%2F)+|(%:\h{64}))\z}n
      WARDEN = /\Awarden\.user\.(\w+)\.key\z/
      ESCAPES = { "%" => "%25", "/" => "%2F" }.freeze
      private_constant :KIND_MAX, :KIND, :NAME, :WARDEN, :ESCAPES

      module_function

      # Of whom a question is about. Of a String that has the form of a name, as "Admin/7", that is the name.
      #
      # @param user [String, Integer, Symbol, #id] a name, the id of a User, or a model
      # @return [String] its name
      # @raise [InvalidArgument] naming what has none
      def of(user)
        return in_session(user) unless user.is_a?(String) && (match = NAME.match(user.b))

        match[3] ? utf8(user) : named(match[1], match[2].gsub(/%25|%2F/n, ESCAPES.invert))
      end

      # Of whom a session belongs to. A String is an id, whatever it looks like: users may have chosen it.
      #
      # @param user [String, Integer, Symbol, #id] the id of a User, or a model
      # @param as [Class, String] the class, where it is another
      # @return [String] its name
      # @raise [InvalidArgument] naming what has none
      def in_session(user, as: nil)
        plain = plain?(user)
        user = user.__getobj__ while defined?(::Delegator) && ::Delegator === user # rubocop:disable Style/CaseEquality
        id = plain ? user.to_s : id_of(user)
        return named(as ? kind(as) : kind_of(user, plain), id) unless id.nil? || id.empty?

        shown = user.is_a?(String) ? user.inspect[0, 40] : "a #{user.class}" # a model's values do not belong into logs
        raise InvalidArgument, "#{shown} is no user: give a name, an id or a model with an id"
      end

      # Everybody who is signed in as Warden (Devise) keeps it, in any scope, or in the key `user_id`.
      #
      # @param values [Hash{String => Object}] of a session
      # @param classes [Hash{String => String}] those of scopes that are not called as their class
      # @return [Array<String>] names
      def in_values(values, classes = {})
        names = []
        id = values["user_id"]
        names << named(classes["user"] || USER, id.to_s) if id?(id)
        values.each do |key, value|
          next unless value && key.start_with?("warden.user.") && (match = WARDEN.match(key))

          id = Array(Array(value).first).join(",")
          names << named(kind_of_scope(match[1], classes), id) unless id.empty?
        end
        names.uniq
      end

      # Makes {.in_values} of what an application says about itself.
      #
      # @param option [#call, Hash, Symbol, String, nil] answers a user, several, or nobody for values; or the classes
      #   of scopes, as `{ admin: "Admin::User" }`; or the key of an id: "account_id" is that of an Account
      # @return [#call] answers names for values
      # @raise [InvalidArgument]
      def finder(option)
        case option
        when nil then method(:in_values)
        when Hash
          classes = option.to_h { |scope, of| [scope.to_s, kind(of)] }
          ->(values) { in_values(values, classes) }
        when Symbol, String then key_finder(option.to_s)
        else
          unless option.respond_to?(:call)
            raise InvalidArgument, "user: #{option.inspect} is no key, no classes of scopes, and cannot be called"
          end

          ->(values) { told(option.call(values)) }
        end
      end

      # What an application answers about a session.
      def told(users)
        case users
        when nil, false then []
        when Array then users.flat_map { |user| told(user) }.uniq
        when Hash then users.map { |of, id| in_session(id, as: of) }
        else [in_session(users)]
        end
      end

      def key_finder(key)
        kind = camelized(key.delete_suffix("_id"))
        ->(values) { id?(values[key]) ? [named(kind, values[key].to_s)] : [] }
      end

      # What is no id, and was found in a session, is nobody's.
      def id?(id)
        id.is_a?(Integer) || (id.is_a?(String) && !id.empty?)
      end

      def plain?(user)
        case user
        when String, Symbol, Integer then true
        else false
        end
      end

      # As Warden has it where a key has several columns.
      def id_of(user)
        Array(user.id).join(",") if user.respond_to?(:id)
      end

      def kind_of(user, plain)
        plain ? USER : kind(user.class)
      end

      # The base class of models that share a table, so that a user has one name.
      def kind(given)
        given = given.base_class if given.respond_to?(:base_class)
        name = given.is_a?(Module) ? given.name : given.to_s
        if name.nil?
          raise InvalidArgument, "#{given.inspect} has no name, so nobody could be found by it: give the class as " \
                                 "well, as in bind(id, as: \"Guest\"), and ask about \"Guest/7\""
        end
        return name if name.b.match?(/\A#{KIND}\z/no) && name.bytesize <= KIND_MAX

        raise InvalidArgument, "#{name[0, 40]} is no name of a class of #{KIND_MAX} bytes at most, as \"Admin::User\""
      end

      def kind_of_scope(scope, classes)
        classes[scope] || begin
          mapping = ::Devise.mappings[scope.to_sym] if defined?(::Devise.mappings)
          mapping ? kind(mapping.to) : camelized(scope)
        end
      end

      def camelized(word)
        word.split("_").map(&:capitalize).join
      end

      # Encodings do not count, for records tell none.
      def named(kind, id)
        id = id.b
        name = "#{kind.b}/#{id.gsub(%r{[%/]}n, ESCAPES)}"
        utf8(name.bytesize <= MAX ? name : "#{kind.b}/%:#{Digest::SHA256.hexdigest(id)}")
      end

      def utf8(name)
        name.dup.force_encoding(Encoding::UTF_8)
      end
      private_class_method :told, :key_finder, :id?, :plain?, :id_of, :kind_of, :kind, :kind_of_scope, :camelized,
                           :named, :utf8
    end
  end
end
