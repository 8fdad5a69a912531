# frozen_string_literal: true

# Records whose class says how they are cached, and what of them.

require "test_helper"
require "support/codec_case"
require "active_support/all"
require "active_record"

class LarderCacheableRecordsTest < ActiveSupport::TestCase
  include CodecCase

  class Base < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(adapter: "sqlite3", database: ":memory:")
    connection.create_table(:products) do |table|
      table.string :name
      table.decimal :price
      table.string :secret
      table.binary :image
      table.date :made_on
      table.datetime :sold_at, precision: nil
      table.timestamps
    end
  end

  class Product < Base
    include Larder::Cacheable
  end

  FIELDS = { id: :integer, name: :string, price: :decimal, updated_at: :datetime }.freeze
  SERIALIZERS = %i[json active_support_json xml message_pack native marshal].freeze

  def codec = Larder::Serializers[:json, trusted: true]

  def copy(value)
    codec.load(codec.dump(value))
  end

  def product(**values)
    Product.create!(name: "a", price: 1.5, secret: "x", made_on: Date.new(2026, 1, 2), **values)
  end

  test "the guide's example stores records, new ones and old ones" do
    Product.cached_with serializer: :protobuf, compressor: :zstd, compress_threshold: 20, fields: FIELDS
    old, fresh = product, Product.new(name: "new")
    back = copy([old, fresh, old])
    assert_equal [false, true, false], back.map(&:new_record?)
    assert_equal [old, old], back.values_at(0, 2)
    assert_equal old.attributes.slice(*FIELDS.keys.map(&:to_s)), back[0].attributes
    assert_equal "new", back[1].name
    assert_not back[0].changed?
    assert_equal old, copy(old)
  end

  test "fields: leaves the others out, by every serializer" do
    old = product
    SERIALIZERS.product([%i[id name], { id: :integer, name: :string }]) do |name, fields|
      Product.cached_with serializer: name, fields: fields
      assert_not_includes codec.dump(old), "secret"
      back = copy(old)
      assert_equal({ "id" => old.id, "name" => "a" }, back.attributes, name)
      assert_raises(ActiveModel::MissingAttributeError) { back.secret }
    end
  end

  test "what was stored whole is read after fields: were named, and the other way round" do
    old = product
    %i[message_pack marshal json].each do |name|
      Product.cached_with serializer: name
      whole = codec.dump([old])
      Product.cached_with serializer: name, fields: %i[id name]
      part = codec.dump([old])
      assert_equal [old], codec.load(whole)
      Product.cached_with serializer: name
      assert_equal [old], codec.load(part)
    end
  end

  test "times and bytes come back as Rails makes them, whatever the zones are" do
    zone, Time.zone_default = Time.zone_default, ActiveSupport::TimeZone["Berlin"]
    default, ActiveRecord.default_timezone = ActiveRecord.default_timezone, :local
    before, ENV["TZ"] = ENV.fetch("TZ", nil), "America/New_York"
    old = product(image: "\xFF\0".b, sold_at: Time.utc(2024, 7, 1, 12, 0, 0, 1.234r))
    { %i[message_pack native marshal] => { id: :integer, sold_at: :datetime, image: :binary, made_on: :date },
      %i[json xml protobuf] => { id: :integer, sold_at: :datetime, made_on: :date } }.each do |names, fields|
      names.product([fields, fields.keys]) do |name, given|
        next if name == :protobuf && given.is_a?(Array)

        Product.cached_with serializer: name, fields: given
        back = copy(old)
        assert_equal old.attributes.slice(*back.attributes.keys), back.attributes, name
        assert_equal [old.sold_at.class, old.sold_at.nsec, fields.size],
                     [back.sold_at.class, back.sold_at.nsec, back.attributes.size]
      end
    end
  ensure
    Time.zone_default = zone
    ActiveRecord.default_timezone = default
    ENV["TZ"] = before
  end

  test "a value that the column does not take is refused with its class" do
    Product.cached_with serializer: :json
    error = assert_raises(Larder::UnserializableError) { codec.dump(Product.new(id: 2**64)) }
    assert_match(/cached_with of #{Product}: a value is out of range/, error.message)
  end
end
