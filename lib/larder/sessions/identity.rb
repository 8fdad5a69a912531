# frozen_string_literal: true

# Names users: those who are signed in by the values of a session, and those whom an application asks about.

require "digest"
require_relative "errors"

module Larder
  module Sessions
    # A user's name is a class and an id: "User/42", "Admin::User/7". No two users have the same name, whatever their
    # ids are: in an id "/" is written "%2F" and "%" is "%25", and a long id is replaced by "%:" and its digest.
    module Identity
      # Bytes of the longest name.
      MAX = 255
      # The class of a plain id.
      USER = "User"
      # Bytes of the longest name of a class, which leaves room for a digest.
      KIND_MAX = MAX - 67
      KIND = /[A-Z\x80-\xff][\w\x80-\xff]*(?:::[A-Z\x80-\xff][\w\x80-\xff]*)*/n
      NAME = %r{\A(#{KIND})/((?:[^/%]|%25|%2F)+|(%:\h{64}))\z}n
      WARDEN = /\Awarden\.user\.(\w+)\.key\z/
      AUTHLOGIC = %r{\A([\w/]{1,60})_credentials\z}
      RODAUTH = /\A(\w{0,60})authenticated_by\z/
      ESCAPES = { "%" => "%25", "/" => "%2F" }.freeze
      private_constant :KIND_MAX, :KIND, :NAME, :WARDEN, :AUTHLOGIC, :RODAUTH, :ESCAPES

      module_function

      # The name of a user whom an application asks about. A String in the form of a name, as "Admin/7", is a name.
      #
      # @param user [String, Integer, Symbol, #id] a name, the id of a User, or a model
      # @return [String]
      # @raise [InvalidArgument] it is none of these
      def of(user)
        return in_session(user) unless user.is_a?(String) && (match = NAME.match(user.b))

        match[3] ? utf8(user) : named(match[1], match[2].gsub(/%25|%2F/n, ESCAPES.invert))
      end

      # The name of a user of a session. A String is an id, whatever it looks like, because users may have chosen it.
      #
      # @param user [String, Integer, Symbol, #id] the id of a User, or a model
      # @param as [Class, String] the class, if it is another
      # @return [String]
      # @raise [InvalidArgument] it is neither
      def in_session(user, as: nil)
        case user
        when String, Symbol, Integer
          id = user.to_s
          as ||= USER
        else
          user = delegated(user)
          id = Array(user.id).join(",") if user.respond_to?(:id) # as Warden joins a key of several columns
        end
        return named(kind(as || user.class), id) unless id.nil? || id.empty?

        shown = user.is_a?(String) ? user.inspect[0, 40] : "a #{user.class}" # a model's values do not belong into logs
        raise InvalidArgument, "#{shown} is no user: give a name, an id or a model with an id"
      end

      # Everybody who is signed in by the key `user_id` (Sorcery, and most code without a gem), by Warden (Devise) in
      # any scope, by Authlogic, or by Rodauth.
      #
      # @param values [Hash{String => Object}] of a session
      # @param classes [Hash{String => String}] the classes of scopes, unless Devise or the scope's name tells them
      # @return [Array<String>] names
      def in_values(values, classes = {})
        names = []
        id = values["user_id"]
        names << named(classes["user"] || USER, id.to_s) if id?(id)
        values.each do |key, value|
          name = value && of_gem(values, key, value, classes)
          names << name if name
        end
        names.uniq
      end

      # Makes a lambda like {.in_values} of the option `user:`.
      #
      # @param option [#call, Hash, Symbol, String, nil] takes values and answers a user, several, or nil; or the
      #   classes of scopes, as `{ admin: "Admin::User" }`; or the key of an id: "account_id" is that of an Account
      # @return [#call] answers names for values
      # @raise [InvalidArgument]
      def finder(option)
        case option
        when nil then method(:in_values)
        when Hash
          classes = option.to_h { |scope, of| [scope.to_s, kind(of)] }
          ->(values) { in_values(values, classes) }
        when Symbol, String
          key = option.to_s
          kind = camelized(key.delete_suffix("_id"))
          ->(values) { id?(values[key]) ? [named(kind, values[key].to_s)] : [] }
        else
          unless option.respond_to?(:call)
            raise InvalidArgument, "user: #{option.inspect} is no key, no classes of scopes, and cannot be called"
          end

          ->(values) { names(option.call(values)) }
        end
      end

      # The name of a user that a gem has signed in.
      def of_gem(values, key, value, classes)
        if key.start_with?("warden.user.")
          (match = WARDEN.match(key)) && of_warden(match[1], value, classes)
        elsif (match = AUTHLOGIC.match(key))
          of_authlogic(values, key, match[1], classes)
        elsif (match = RODAUTH.match(key)) && value.is_a?(Array)
          of_rodauth(values["#{match[1]}account_id"], match[1].delete_suffix("_"), classes)
        end
      end

      def of_warden(scope, value, classes)
        id = Array(Array(value).first).join(",")
        named(kind_of_scope(scope, classes), id) unless id.empty?
      end

      # Authlogic stores a token under "user_credentials", and the user's id under that name and the primary key's.
      def of_authlogic(values, key, scope, classes)
        _, id = values.find { |other, each| other.start_with?("#{key}_") && id?(each) }
        named(classes[scope] || camelized(scope), id.to_s) if id?(values[key]) && id
      end

      # Rodauth stores how an account was authenticated, and its id. Its option session_key_prefix tells configurations
      # apart: "admin_account_id" is of an Admin.
      def of_rodauth(id, prefix, classes)
        scope = ["", "rodauth"].include?(prefix) ? "account" : prefix
        named(classes[scope] || camelized(scope), id.to_s) if id?(id)
      end

      # The names of what a lambda has answered.
      def names(users)
        case users
        when nil, false then []
        when Array then users.flat_map { |user| names(user) }.uniq
        when Hash then users.map { |of, id| in_session(id, as: of) }
        else [in_session(users)]
        end
      end

      # What the user stands for, if it is a SimpleDelegator or the like. (Ruby 3.4.5 cannot compile a loop with
      # `defined?` in its condition.)
      def delegated(user)
        return user unless defined?(::Delegator)

        user = user.__getobj__ while ::Delegator === user # rubocop:disable Style/CaseEquality
        user
      end

      # Anything else in a session is ignored.
      def id?(id)
        id.is_a?(Integer) || (id.is_a?(String) && !id.empty?)
      end

      # Models that share a table go by their base class, so that a user has one name.
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
        word.split("/").map { |part| part.split("_").map(&:capitalize).join }.join("::")
      end

      # Two Strings with the same bytes have the same name, because records have no encodings.
      def named(kind, id)
        id = id.b
        name = "#{kind.b}/#{id.gsub(%r{[%/]}n, ESCAPES)}"
        utf8(name.bytesize <= MAX ? name : "#{kind.b}/%:#{Digest::SHA256.hexdigest(id)}")
      end

      def utf8(name)
        name.dup.force_encoding(Encoding::UTF_8)
      end
      private_class_method :of_gem, :of_warden, :of_authlogic, :of_rodauth, :names, :delegated, :id?, :kind,
                           :kind_of_scope, :camelized, :named, :utf8
    end
  end
end
