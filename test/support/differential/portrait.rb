# frozen_string_literal: true

# What is compared of a value: everything that a caller could see of it except its identity.

require "zlib"

module Differential
  # Values as text: two are the same where their texts are.
  module Portrait
    LONGEST = 200
    private_constant :LONGEST

    module_function

    # @param value [Object]
    # @return [String] class, content, encoding, whether it is frozen, instance variables; no addresses
    def of(value)
      case value
      when nil, true, false, Integer, Symbol then "#{value.class} #{of_name(value)}"
      when Float then "Float #{value} #{[value].pack("G").unpack1("H*")}"
      when String then "#{value.class} #{of_bytes(value)} #{value.encoding}#{more(value)}"
      when Array then "#{value.class} [#{value.map { |element| of(element) }.join(", ")}]#{more(value)}"
      when Hash then "#{value.class} {#{value.map { |pair| pair.map { |held| of(held) }.join(" => ") }.join(", ")}}" \
                     "#{more(value)}"
      when Struct then "#{value.class} #{of(value.to_a)}"
      when Time then "Time #{value.to_r} #{value.utc_offset}"
      when ActiveSupport::Duration then "Duration #{value.parts} #{of(value.value)}"
      when Exception then "#{value.class}: #{of_bytes(value.message)}"
      when Proc, Method, Module then value.class.name
      else "#{value.class}#{more(value)}"
      end
    end

    # @param string [String]
    # @return [String] its bytes without addresses of objects and excerpts of the sources, in short where they are many
    def of_bytes(string)
      abbreviate(string.b.gsub(/0x\h{8,}/n, "0x").sub(/\n\n {4,}[^\n]+\n +\^+\z/n, "").dump)
    end

    def abbreviate(text)
      text.size > LONGEST ? "#{text[0, 40]}...(#{text.size}, #{Zlib.crc32(text)})" : text
    end
    private_class_method :abbreviate

    def of_name(value)
      value.is_a?(Symbol) ? "#{value.name.b.dump} #{value.encoding}" : value.inspect
    end
    private_class_method :of_name

    def more(value)
      held = value.instance_variables.map { |name| "#{name}=#{of(value.instance_variable_get(name))}" }
      "#{" frozen" if value.frozen?}#{" (#{held.join(", ")})" if held.any?}"
    end
    private_class_method :more
  end
end
