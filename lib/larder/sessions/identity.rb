# frozen_string_literal: true

# Owns what a user is called in a session: who is signed in according to its values, and the name of a user that an
# application asks about.

require "digest"
require_relative "errors"

module Larder
  module Sessions
    # Users have names: the id of a User ("42"), and of others with their kind before it ("admin/7"), so that the
    # administrator 7 is not the user 7.
    module Identity
      # Bytes of the longest name.
      MAX = 255
      # The kind whose users go by their id alone.
      USER = "user"
      WARDEN = /\Awarden\.user\.(\w+)\.key\z/
      private_constant :USER, :WARDEN

      module_function

      # @param user [String, Integer, Symbol, #id] a name, an id, or a model
      # @return [String] its name; a digest of one that is longer than {MAX}
      # @raise [InvalidArgument] naming what has none
      def of(user)
        name = case user
               when String, Symbol, Integer then short(user.to_s)
               else of_model(user)
               end
        return name if name

        raise InvalidArgument, "#{user.inspect[0, 40]} is no user: give a name, an id or a model with an id"
      end

      # Who is signed in as Warden (Devise) keeps it, or in the key `user_id`.
      #
      # @param values [Hash{String => Object}] of a session
      # @return [String, nil] a name, nil: nobody
      def in_values(values)
        return in_scope(USER, values["user_id"]) if values["user_id"]

        values.each do |key, value|
          match = WARDEN.match(key) if key.start_with?("warden.user.")
          return in_scope(match[1], Array(Array(value).first).join(",")) if match && value
        end
        nil
      end

      # Makes {.in_values} of what an application says about itself.
      #
      # @param option [#call, Symbol, String, nil] answers a user for values; or the key of an id: "account_id" is that
      #   of an account
      # @return [#call] answers a name or nil for values
      # @raise [InvalidArgument]
      def finder(option)
        case option
        when nil then method(:in_values)
        when Symbol, String then key_finder(option.to_s)
        else
          unless option.respond_to?(:call)
            raise InvalidArgument,
"user: #{option.inspect} is no key and cannot be called"
          end

          ->(values) { (user = option.call(values)) && of(user) }
        end
      end

      def key_finder(key)
        kind = key.delete_suffix("_id")
        ->(values) { in_scope(kind, values[key]) }
      end

      # Whatever is found in a session: what is no id is nobody's.
      def in_scope(kind, id)
        return unless id.is_a?(Integer) || id.is_a?(String)

        name = short(id.to_s)
        name && (kind == USER ? name : short("#{kind}/#{name}"))
      end

      def of_model(user)
        id = user.id if user.respond_to?(:id)
        kind = user.class
        kind = kind.base_class if kind.respond_to?(:base_class)
        in_scope(kind.respond_to?(:model_name) ? kind.model_name.element : USER, id&.to_s)
      end

      def short(name)
        name = name.dup.force_encoding(Encoding::UTF_8) # its bytes count, and records tell no other encoding
        return name if name.bytesize.between?(1, MAX)

        Digest::SHA256.hexdigest(name) unless name.empty?
      end
      private_class_method :key_finder, :in_scope, :of_model, :short
    end
  end
end
