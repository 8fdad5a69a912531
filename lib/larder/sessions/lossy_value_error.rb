# frozen_string_literal: true

# Names a value that a session cannot keep.

require_relative "errors"

module Larder
  module Sessions
    # A value of a session that its serializer cannot keep, and that was left out. Reported once for each key of the
    # session and class, never raised.
    class LossyValueError < Error
      # Characters of a key in a message.
      LONGEST_SHOWN = 60
      JSON = "Keep what JSON has in sessions (of a record its id, of bytes their Base64), or choose serializer: " \
             ":marshal with the session store."
      NAME = Module.instance_method(:name)
      private_constant :LONGEST_SHOWN, :JSON, :NAME

      # @return [Array(String, String)] the session's key and the class: what an application repairs in one place
      attr_reader :about

      # @param path [Array] keys and indexes that lead to the value
      # @param type [Class]
      # @param reason [String]
      # @param remedy [String]
      def initialize(path, type, reason, remedy: JSON)
        @about = [path.first.to_s, NAME.bind_call(type).to_s]
        where = path.map { |step| "[#{shown(step)}]" }.join
        super("session#{where} is #{reason}, and was left out: the next request does not find it. #{remedy}")
      end

      private

      def shown(step)
        return "a #{step.class}" unless step.is_a?(String) || step.is_a?(Symbol) || step.is_a?(Integer)

        text = step.inspect
        text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
      end
    end
  end
end
