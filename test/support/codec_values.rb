# frozen_string_literal: true

# Awkward values, by the serializers that bring them back, and what others refuse.

require "active_support/all"

module CodecValues
  # What each brings back as it was. The others say so when it is stored.
  JSON_VALUES = [nil, true, false, 0, -1, 2**70, 1.5, -0.1, "", "text", "é\u{1F600}", "tab\tline\n<&>\"'", [], {}, [[]],
                 { "a" => { "b" => [nil, { "c" => "d" }] } }, { "" => 1, "x y" => 2, "id" => "7", "ID" => 8 },
                 Array.new(50) { |i| { "id" => i, "name" => "Name #{i}" } }].freeze
  PLAIN_VALUES = [*JSON_VALUES, :symbol, "bytes \xFF".b, "ascii".encode("US-ASCII"), { a: 1, 2 => :b, nil => 3 },
                  Float::INFINITY].freeze
  RICH_VALUES = [*PLAIN_VALUES, 1r, Complex(1, 2), BigDecimal("1.25"), Time.utc(2026, 1, 2, 3, 4, 5.5r),
                 Date.new(2026, 1, 2), Set[1, :a], 1..2, ("a"...), 3.days,
                 { "a" => { "b" => 1 } }.with_indifferent_access, Time.utc(2026).in_time_zone("Europe/Berlin"),
                 "é".encode("ISO-8859-1"), "safe".html_safe].freeze
  Point = Struct.new(:x, :y)
  # MessagePack has SafeBuffers from Rails 8.1 on.
  UNPACKED = ActiveSupport.gem_version < Gem::Version.new("8.1.0.a") ? ["safe".html_safe] : []
  PACKED_VALUES = (RICH_VALUES - ["ascii".encode("US-ASCII"), "é".encode("ISO-8859-1"), *UNPACKED]).freeze
  BRINGS_BACK = { json: JSON_VALUES, xml: JSON_VALUES, active_support_json: JSON_VALUES, message_pack: PACKED_VALUES,
                  native: [*RICH_VALUES, Point.new(1, "y")],
                  marshal: [*RICH_VALUES, Point.new(1, "y"), Comparable, Class] }.freeze

  REFUSES = { json: [:symbol, { a: 1 }, Float::NAN, "\xFF", Time.now, 1r, [Object.new], { 1 => 2 }],
              xml: [:symbol, { a: 1 }, Float::INFINITY, "\0", "\xFF", Time.now],
              native: [Object.new, [Comparable], $stdout], message_pack: [Object.new, *UNPACKED] }.freeze

  # What Protobuf is told of, for it brings nothing else back.
  SCHEMA = { "id" => :integer, "name" => :string, "price" => :float, "ok" => :boolean, "bytes" => :binary }.freeze
  MESSAGES = [{ "id" => 1, "name" => "Pear", "price" => 1.5, "ok" => true, "bytes" => "\xFF\0".b },
              { "id" => -(2**60), "name" => "", "price" => nil, "ok" => false, "bytes" => nil },
              Array.new(60) do |i|
                { "id" => i, "name" => "é#{i}", "price" => i / 4.0, "ok" => nil, "bytes" => "".b }
              end].freeze
end
