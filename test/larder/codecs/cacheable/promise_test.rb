# frozen_string_literal: true

# `fields:` keeps the rest out of the cache, wherever an object stands: every shape of a value is written through a real
# store by every serializer, and the bytes of its file are searched.

require "test_helper"
require "support/codec_case"
require "support/codec_values"
require "active_support/all"
require "active_support/message_pack"
require "active_record"
require "delegate"
require "ostruct"
require "yaml"
require "zlib"

# rubocop:disable Style/OpenStructUse -- applications cache them
class LarderCacheablePromiseTest < ActiveSupport::TestCase
  include CodecCase
  include TemporaryDirectory

  SECRET = "digest-that-nobody-may-find"
  # Of serializers that Rails has a name for, the second of what delegates; of Marshal, for one with methods of its own.
  RAILS_REFUSALS = [ActiveSupport::MessagePack::UnserializableObjectError, NoMethodError, TypeError].freeze

  class Base < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(adapter: "sqlite3", database: ":memory:")
    connection.create_table(:accounts) do |table|
      table.string :name
      table.string :password_digest
      table.string :type
    end
    connection.create_table(:posts) do |table|
      table.string :title
      table.integer :account_id
    end
  end

  class Account < Base
    include Larder::Cacheable

    has_many :posts, class_name: "LarderCacheablePromiseTest::Post"
    cached_with serializer: :native, fields: %i[id name]
  end

  class Admin < Account
    def as_json(*) = attributes
  end

  class Post < Base
    belongs_to :account, class_name: "LarderCacheablePromiseTest::Account"
  end

  class OwnPost < Post
    include Larder::Cacheable

    self.table_name = "posts"
    cached_with serializer: :marshal
  end

  class Card
    include Larder::Cacheable

    attr_reader :name, :password_digest

    cached_with serializer: :json, fields: %i[name]

    def initialize(name)
      @name = name
      @password_digest = SECRET
    end
  end

  # Declared, without fields:, around one that has some.
  Envelope = Struct.new(:at, :letter) do
    include Larder::Cacheable

    cached_with serializer: :marshal
  end

  class Folder
    include Larder::Cacheable

    cached_with serializer: :marshal, fields: %i[owner]

    def initialize(owner)
      @owner = owner
    end
  end

  Pair = Struct.new(:left, :right)
  POINT = defined?(Data) && Data.respond_to?(:define) ? Data.define(:x) : nil

  class List < Array; end

  class Box
    def initialize(inside)
      @inside = inside
    end
  end

  class Sealed < Box
    def marshal_dump = [@inside]

    def marshal_load(inside)
      @inside = inside.first
    end
  end

  class Twice < Box
    def _dump(_level) = Marshal.dump(@inside)

    def self._load(bytes) = new(Marshal.load(bytes))
  end

  class Packed < Box
    def marshal_dump = Marshal.dump(@inside)

    def marshal_load(bytes)
      @inside = Marshal.load(bytes)
    end
  end

  # Gives away what it holds in bytes that nobody else reads.
  class Squeezed < Box
    def marshal_dump = Zlib.deflate(Marshal.dump(@inside))

    def marshal_load(bytes)
      @inside = Marshal.load(Zlib.inflate(bytes))
    end
  end

  class Written < Box
    def marshal_dump = YAML.dump(@inside)

    def marshal_load(text)
      @inside = YAML.unsafe_load(text)
    end
  end

  # As Rails' JSON and MessagePack ask for it.
  class Shown < Box
    def as_json(*) = { "inside" => @inside.as_json }

    def self.json_create(shown) = new(shown["inside"])
  end

  # Forwards all that it is asked.
  class Proxy < BasicObject
    def initialize(inside)
      @inside = inside
    end

    def respond_to?(...) = @inside.respond_to?(...)

    def method_missing(...) = @inside.__send__(...)

    def respond_to_missing?(...) = @inside.respond_to?(...)
  end

  # Also what a BasicObject does not have, and the class that it says to be of.
  class Mask < Proxy
    %i[class is_a? kind_of? instance_of? hash as_json instance_variables instance_variable_get].each do |name|
      define_method(name) { |*arguments| @inside.__send__(name, *arguments) }
    end
  end

  # Answers before it is asked, and does not ask whom it stands for.
  class Eager < Proxy
    def respond_to?(*) = true
  end

  module Open
    def as_json(*) = instance_values

    def marshal_dump = as_json

    def marshal_load(values)
      values.each_pair { |name, value| instance_variable_set("@#{name}", value) }
    end
  end

  # Of one object that is promised about: what may hold it.
  CONTAINERS = {
    "itself" => ->(object) { object },
    "a list" => ->(object) { [object, object] },
    "a list, late" => ->(object) { [*(1..200), object] },
    "lists within lists" => ->(object) { [[[[[[[nil, [object]]]]]]]] },
    "a hash" => ->(object) { { a: object } },
    "a hash, late" => ->(object) { (1..50).to_h { |i| [i, i] }.merge("o" => { "o" => [object] }) },
    "a key" => ->(object) { { object => object, 1 => 2 } },
    "a Struct" => ->(object) { Pair.new(1, object) },
    "a list of Structs" => ->(object) { [Pair.new(1, nil), Pair.new([object], 2)] },
    "a Set" => ->(object) { Set[1, object] },
    "an indifferent hash" => ->(object) { { a: { b: object } }.with_indifferent_access },
    "a hash with a default" => ->(object) { Hash.new(7).merge("a" => object) },
    "a default" => ->(object) { Hash.new(object).merge("a" => 1) },
    "a hash by identity" => ->(object) { { "a" => object }.compare_by_identity },
    "an OpenStruct" => ->(object) { OpenStruct.new(a: object) },
    "beside an OpenStruct" => ->(object) { [object, OpenStruct.new(a: 1)] },
    "an object" => ->(object) { [Box.new([object])] },
    "an object with Marshal's hook" => ->(object) { Sealed.new(object) },
    "an object whose hook makes bytes" => ->(object) { [Packed.new(object)] },
    "an object with Marshal's older hook" => ->(object) { [Twice.new(object)] },
    "an object whose hook makes compressed bytes" => ->(object) { [Squeezed.new(object)] },
    "an object whose hook makes YAML" => ->(object) { [Written.new(object)] },
    "an object with JSON of its own" => ->(object) { Shown.new(object) },
    "a proxy" => ->(object) { Proxy.new(object) },
    "a list of proxies" => ->(object) { [1, Proxy.new(object)] },
    "a proxy of a list" => ->(object) { Mask.new([object]) },
    "a proxy of a hash" => ->(object) { Mask.new({ a: object }) },
    "a proxy that says to be the object" => ->(object) { { a: Mask.new(object) } },
    "a proxy that has all methods" => ->(object) { Eager.new(object) },
    "a proxy of a proxy" => ->(object) { [Proxy.new(Mask.new(object))] },
    "a proxy in a Struct" => ->(object) { Pair.new(1, Mask.new(object)) },
    "a proxy in a field of another" => ->(object) { Folder.new(Proxy.new(object)) },
    "one with methods of a module" => ->(object) { OpenStruct.new(a: object.dup.extend(Open)) },
    "one with a method of its own" => lambda do |object|
      OpenStruct.new(a: object.dup.tap { |one| def one.as_json(*) = instance_values })
    end,
    "a subclass of Array" => ->(object) { List[object] },
    "a String's variable" => ->(object) { (+"text").tap { |text| text.instance_variable_set(:@a, object) } },
    "a list's variable" => ->(object) { [1].tap { |list| list.instance_variable_set(:@a, object) } },
    "a Struct's variable" => ->(object) { Pair.new(1, 2).tap { |pair| pair.instance_variable_set(:@a, object) } },
    "a delegator" => ->(object) { SimpleDelegator.new(object) },
    "an exception" => ->(object) { RuntimeError.new("x").tap { |error| error.instance_variable_set(:@a, object) } },
    "one with a module" => ->(object) { [1, object.dup.extend(Comparable)] },
    "a declared Struct" => ->(object) { Envelope.new(1, object) },
    "a list of declared Structs" => ->(object) { [Envelope.new(1, [object]), 2] },
    "a field of another" => ->(object) { Folder.new(Pair.new(1, object)) },
    "an unknown container in a field of another" => ->(object) { [Folder.new(Box.new(object))] },
    "a Data" => ->(object) { POINT ? [POINT.new(x: [object])] : object }
  }.freeze
  # Those that need not be refused.
  KNOWN = ["itself", "a list", "a list, late", "lists within lists", "a hash", "a hash, late", "a key", "a Struct",
           "a list of Structs", "a Set", "an indifferent hash", "a Data"].freeze
  # The same of records.
  KNOWN_RECORDS = ["an association", "associations in a list", "a built association", "a subclass",
                   "an associated subclass", "an older value"].freeze

  # Of records: what ActiveRecord has besides.
  RECORDS = {
    "a record that another has memoized" => lambda do
      Post.first.tap { |post| post.instance_variable_set(:@author, Account.first) }
    end,
    "a list of those" => -> { [Post.new.tap { |post| post.instance_variable_set(:@authors, [Account.first]) }] },
    "a relation" => -> { Account.all.load },
    "a list of relations" => -> { [Account.where.not(name: "x").load, 1] },
    "an association" => -> { Post.includes(:account).first },
    "associations in a list" => -> { Post.includes(:account).to_a },
    "a relation with associations" => -> { Post.includes(:account).load },
    "an association's proxy" => -> { Account.first.posts.load },
    "a built association" => -> { Post.new(title: "x", account: Account.first) },
    "an association of a declared class" => -> { OwnPost.includes(:account).to_a },
    "a subclass" => -> { [*(1..30), Admin.first] },
    "an associated subclass" => -> { Post.new(account: Admin.first) },
    "a read-only record" => -> { [1, Account.first.tap(&:readonly!)] },
    "a record with an association that is read-only" => -> { [Post.includes(:account).first.tap(&:readonly!)] },
    "errors" => -> { Account.first.tap { |account| account.errors.add(:name, "is odd") }.errors },
    "an older value" => -> { Account.first.tap { |account| account.password_digest = "new #{SECRET}" } }
  }.freeze

  STORES = { "Larder's default" => {}, "compressing" => { compress: true, compress_threshold: 1 } }
           .merge((Larder::Serializers.names - [:protobuf]).to_h { |name| [name.to_s, { serializer: name }] }).freeze

  setup do
    Post.delete_all
    Account.delete_all
    account = Account.create!(name: "Ann", password_digest: SECRET)
    Admin.create!(name: "Bob", password_digest: SECRET)
    2.times { |i| Post.create!(title: "post #{i}", account: account) }
    @format, ActiveRecord::Marshalling.format_version = ActiveRecord::Marshalling.format_version, 7.1
  end
  teardown { ActiveRecord::Marshalling.format_version = @format }

  def larder(options)
    @count = @count.to_i + 1
    path = path_of("#{@count}.larder")
    [ActiveSupport::Cache.lookup_store(:larder_store, path, { size: 1 << 20, compress: false, **options }),
     -> { File.exist?(path) ? File.binread(path) : "" }]
  end

  # Any store of Rails, by the coder.
  def files(options)
    @count = @count.to_i + 1
    directory = path_of("files#{@count}")
    coder = Larder::Coder.new(serializer: serializer(options.fetch(:serializer), trusted: true), compressor: nil)
    [ActiveSupport::Cache::FileStore.new(directory, coder: coder),
     -> { Dir.glob("#{directory}/**/*").select { |path| File.file?(path) }.map { |path| File.binread(path) }.join }]
  end

  # Is the value kept without the secret, or refused?
  #
  # @return [Boolean] was it kept?
  def assert_secret(value, message, (cache, bytes))
    kept = cache.write("key", value)
    assert_not_includes bytes.call, SECRET, message
    copy = cache.read("key")
    assert_not_includes Marshal.dump(copy), SECRET, message
    kept && !copy.nil?
  rescue Larder::UnserializableError, *RAILS_REFUSALS
    assert_not_includes bytes.call, SECRET, message
    assert_nil cache.read("key"), message
    false
  end

  def each_store
    yield "protobuf", larder({ serializer: serializer(:protobuf, trusted: true) })
    STORES.each do |name, options|
      yield name, larder(options)
      yield "#{name} in files", files(options) if options.key?(:serializer)
    end
  end

  test "the search finds the secret where nothing is promised" do
    cache, bytes = larder({})
    cache.write("key", Pair.new(1, SECRET))
    assert_includes bytes.call, SECRET
  end

  CONTAINERS.each do |name, hold|
    test "an object in #{name} keeps its secret, by every serializer" do
      each_store do |store, made|
        { "record" => Account.first, "object" => Card.new("a") }.each do |kind, object|
          assert_secret(hold.call(object), "#{kind} in #{name}, by #{store}", made)
        end
      end
    end
  end

  test "methods that a class gets after its declaration give nothing away" do
    late = Class.new(Card) { include Open }
    self.class.const_set(:Late, late)
    prepended = Class.new(Card).tap { |type| type.prepend(Open) }
    self.class.const_set(:Prepended, prepended)
    reopened = Class.new(Card) { def marshal_dump = instance_values }
    self.class.const_set(:Reopened, reopened)
    reopened.class_eval { def marshal_load(_) = nil }
    [late, prepended, reopened].each do |type|
      each_store do |store, made|
        assert_secret(Shown.new(Proxy.new(type.new("a"))), "#{type} in JSON by #{store}", made)
        assert_secret(Proxy.new(type.new("a")), "#{type} by #{store}", made)
      end
    end
  end

  test "proxies give nothing away in both formats of Rails' cache" do
    before = ActiveSupport::Cache.format_version
    [7.0, 7.1].each do |format|
      ActiveSupport::Cache.format_version = format
      CONTAINERS.each_pair do |name, hold|
        next unless name.include?("proxy")

        [larder({}), larder(serializer: :marshal), files(serializer: :marshal)].each do |made|
          assert_secret(hold.call(Account.first), "#{name}, #{format}", made)
        end
      end
    end
  ensure
    ActiveSupport::Cache.format_version = before
  end

  test "an object in a value that is refused is named by its class, and the value by its own" do
    cache, = larder({})
    message = assert_raises(Larder::UnserializableError) { cache.write("key", Mask.new(Card.new("a"))) }.message
    assert_match(/\Acached_with of #{Card} keeps its fields: only, .* in a value of #{Mask} /, message)
    native, = larder(serializer: :native)
    message = assert_raises(Larder::UnserializableError) { native.write("key", Mask.new(Card.new("a"))) }.message
    assert_match(/value of #{Mask},/, message)
  end

  test "outside of stores a declared object is marshalled, copied and asked as ever" do
    card = Marshal.load(Marshal.dump(Card.new("a")))
    assert_equal SECRET, card.password_digest
    assert_equal SECRET, Marshal.load(Marshal.dump(card.extend(Comparable))).password_digest
    assert_respond_to card, :name
    assert_not_respond_to card, :marshal_dump
    assert_equal [Account], [Marshal.load(Marshal.dump(Account.first)).class]
  end

  RECORDS.each do |name, make|
    test "#{name} keeps the secret, by every serializer and in both formats of Rails' Marshal" do
      [7.1, 6.1].each do |format|
        ActiveRecord::Marshalling.format_version = format
        each_store { |store, made| assert_secret(make.call, "#{name} by #{store}, #{format}", made) }
      end
    end
  end

  test "what Larder's bytes know is kept, by every serializer" do
    each_store do |store, made|
      CONTAINERS.slice(*KNOWN).each do |name, hold|
        assert assert_secret(hold.call(Account.first), name, made), "a record in #{name} by #{store}"
        assert assert_secret(hold.call(Card.new("a")), name, made), "an object in #{name} by #{store}"
      end
      RECORDS.slice(*KNOWN_RECORDS).each do |name, make|
        assert assert_secret(make.call, name, made), "#{name} by #{store}"
      end
    end
  end

  test "an associated record comes back with its fields, a relation as a list does" do
    STORES.each do |name, options|
      cache, = larder(options)
      cache.write("key", Post.includes(:account).to_a)
      copy = cache.read("key")
      assert_equal %w[Ann Ann], copy.map { |post| post.association(:account).target.name }, name
      assert_equal %w[id name], copy.first.association(:account).target.attributes.keys
      cache.write("key", Account.order(:id).to_a)
      assert_equal [Account, Admin], cache.read("key").map(&:class)
    end
  end

  test "what is refused is named, with what to do" do
    cache, = larder({})
    message = assert_raises(Larder::UnserializableError) { cache.write("key", Account.all.load) }.message
    assert_match(/cached_with of #{Account} keeps its fields: only, .*value of .*Relation.* \(of a relation, to_a\)/,
                 message)
    assert_raises(Larder::UnserializableError) { cache.fetch("key") { OpenStruct.new(a: Card.new("a")) } }
    assert_raises(Larder::UnserializableError) { cache.write_multi({ "key" => Box.new(Card.new("a")) }) }
    json, = files(serializer: :active_support_json)
    message = assert_raises(Larder::UnserializableError) { json.write("key", Account.all.load) }.message
    assert_match(/cached_with of #{Account} keeps its fields: only/, message)
  end

  test "what holds no such object is cached as ever" do
    values = [Account.all, [Account, OpenStruct.new(a: Account.name)], Hash.new(0).merge(Card.name => 1),
              Box.new("a #{Account.name} of old"), Post.first.tap(&:readonly!), Post.select(:id).first]
    %i[marshal message_pack].each do |name|
      values.each do |value|
        next if name == :message_pack && [Box, Array, Account.all.class].include?(value.class)

        cache, = larder(serializer: name)
        assert cache.write("key", value), "#{value.inspect} by #{name}"
        assert_not_nil cache.read("key")
      end
    end
  end

  test "outside of stores as_json is the application's" do
    assert_equal SECRET, Account.first.as_json["password_digest"]
    assert_equal SECRET, JSON.parse([Post.first].to_json(include: :account)).dig(0, "account", "password_digest")
    assert_equal SECRET, Card.new("a").as_json["password_digest"]
  end
end
# rubocop:enable Style/OpenStructUse
