# frozen_string_literal: true

# ActiveRecord's records in Larder's own bytes, by MessagePack, and by classes that say how they are cached.

require "test_helper"
require "support/codec_case"
require "support/codec_values"
require "active_record"

class LarderTreeRecordsTest < ActiveSupport::TestCase
  include CodecCase

  ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:authors) { |table| table.string :name }
    create_table(:books) do |table|
      table.references :author
      table.string :title
      table.decimal :price, precision: 8, scale: 2
      table.date :published_on
      table.binary :cover
      table.json :tags
      table.boolean :sold
      table.timestamps
    end
    create_table(:shelves) { |table| table.string :name }
    create_join_table(:books, :shelves)
  end

  class Author < ActiveRecord::Base
    has_many :books, class_name: "LarderTreeRecordsTest::Book", inverse_of: :author
  end

  class Book < ActiveRecord::Base
    belongs_to :author, class_name: "LarderTreeRecordsTest::Author", inverse_of: :books
    has_and_belongs_to_many :shelves, class_name: "LarderTreeRecordsTest::Shelf"
  end

  class Shelf < ActiveRecord::Base; end

  class Declared < ActiveRecord::Base
    self.table_name = "books"
    include Larder::Cacheable
    cached_with serializer: :json, compressor: :zstd
  end

  setup do
    Book.delete_all
    Author.delete_all
    author = Author.create!(name: "Ann")
    3.times do |i|
      Book.create!(author: author, title: "Book #{i} é", price: "12.5#{i}", published_on: Date.new(2026, 1, i + 1),
                   cover: "\xFF\0".b, tags: ["a", { "b" => i }], sold: i.even?)
    end
  end

  %i[native marshal].each do |name|
    test "#{name} brings a record back as one, wherever it stands" do
      books = Book.includes(:author).order(:id).to_a
      value = { books: books, first: books.first, by_id: books.index_by(&:id), authors: books.map(&:author),
                pairs: books.map { |book| [book, book.author] } }
      bytes = serializer(name).dump(value)
      copy = serializer(name).load(bytes)
      assert_equal value, copy
      assert_same copy[:books][0], copy[:first]
      assert_same copy[:books][1], copy[:by_id].values[1]
      assert_same copy[:books][0].author, copy[:authors][2]
      copy[:pairs].zip(copy[:books]) { |pair, book| assert pair[0].equal?(book) && pair[1].equal?(copy[:authors][0]) }
      assert_operator bytes.bytesize, :<, serializer(name).dump(books).bytesize + 400
    end
  end

  %i[native marshal message_pack].each do |name|
    test "#{name} brings records back with what they have loaded" do
      books = Book.includes(:author).order(:id).to_a
      copies = serializer(name).load(serializer(name).dump(books))
      assert_equal books, copies
      assert_equal books.map(&:attributes), copies.map(&:attributes)
      assert copies.all? { |book| book.association(:author).loaded? && book.persisted? && !book.changed? }
      assert_equal ["Ann"], copies.map { |book| book.author.name }.uniq
      author = Author.includes(:books).first
      copy = serializer(name).load(serializer(name).dump(author))
      assert_equal author.books.map(&:title), copy.books.map(&:title)
      assert_same copy, copy.books.first.author
    end

    test "#{name} brings back what is new, changed or without associations" do
      book = Book.new(title: "new", price: 1)
      copy = serializer(name).load(serializer(name).dump(book))
      assert_predicate copy, :new_record?
      assert_equal ["new", 1], [copy.title, copy.price]
      assert_not serializer(name).load(serializer(name).dump(Book.first)).association(:author).loaded?
    end
  end

  test "of an association by a join table the other records are kept, and not the rows of that table" do
    Book.first.shelves << Shelf.new(name: "left") << Shelf.new(name: "right")
    book = Book.includes(:shelves).first
    bytes = serializer(:native).dump(book)
    assert_equal %w[left right], serializer(:native).load(bytes).association(:shelves).target.map(&:name)
    assert_not_includes bytes, "HABTM"
    Book.first.shelves.clear
  end

  # Of Rails' own Marshal format, which new applications have as 7.1: attributes and what was loaded, nothing else.
  def with_format(version)
    before, ActiveRecord::Marshalling.format_version = ActiveRecord::Marshalling.format_version, version
    yield
  ensure
    ActiveRecord::Marshalling.format_version = before
  end

  def store
    @store ||= ActiveSupport::Cache.lookup_store(:larder_store, path_of("records.larder"), { size: 8 << 20 })
  end

  def flags(key)
    Larder::Store::Records.new(store.cache).get(key, nil)[1]
  end

  test "the store keeps records without asking Marshal" do
    books = Book.includes(:author).to_a
    with_format(7.1) { store.write("books", books) }
    assert_equal 10, flags("books")
    assert_equal books.map(&:attributes), store.read("books").map(&:attributes)
    assert_equal "Ann", store.fetch("books") { flunk }.first.author.name
  end

  test "where the application keeps all state of its records, Marshal is asked" do
    with_format(6.1) { store.write("book", Book.first.tap { |book| book.title = "changed" }) }
    assert_equal 0, flags("book")
    assert_equal ["Book 0 é", "changed"], store.read("book").changes["title"]
  end

  test "a record in a state that attributes do not tell is left to Marshal" do
    strange = { destroyed: Book.create!(title: "x").tap(&:destroy), readonly: Book.first.tap(&:readonly!),
                columns: Book.select(:id).first, more: Book.select("books.*, 1 AS more").first,
                methods: Book.first.tap { |book| book.extend(Comparable) } }
    strange.each do |name, book|
      [book, [book], { a: book }].each { |value| assert_nil Larder::Tree.dump(value, true), name }
    end
  end

  def copy_of(record)
    with_format(7.1) { Larder::Tree.load(Larder::Tree.dump(record, false), true, nil) }.first
  end

  # Of all records of a value, what they have loaded.
  def loaded_by(value)
    case value
    when Hash then loaded_by(value.values)
    when Array then value.map { |one| loaded_by(one) }
    when Author then [value.name, value.readonly?, value.books.loaded?, value.books.map { |book| book&.title }]
    else [value.title, value.author&.name, value.author&.readonly?]
    end
  end

  test "a list of records of which one has loaded such a record is left to Marshal, with all that they have loaded" do
    [[1, :belongs_to], [3, :belongs_to], [1, :has_many]].each do |count, side|
      list = side == :has_many ? Author.includes(:books).to_a : Book.includes(:author).order(:id).limit(count).to_a
      (side == :has_many ? list.first.books.first : list.last.author).readonly!
      [list, [list.first, list], { all: list }, [Book.new, list]].each do |value|
        assert_nil Larder::Tree.dump(value, true)
        copy = with_format(7.1) do
          store.write("list", value)
          Marshal.load(Marshal.dump(value))
        end
        assert_equal loaded_by(copy), loaded_by(store.read("list"))
      end
    end
  end

  test "what was read, assigned, saved or changed in place comes back as it is now" do
    { "read" => :attributes.to_proc,
      "assigned" => ->(book) { book.assign_attributes(title: "other", price: "7.25", tags: { "c" => 1 }, sold: nil) },
      "saved" => ->(book) { book.update!(title: "other", price: "7.25", cover: "\xFE".b) },
      "changed in place" => ->(book) { book.title << "!" && book.tags.push("d") },
      "asked for its version" => ->(book) { book.cache_version && book.published_on } }.each do |what, change|
      book = Book.order(:id).first.tap(&change)
      copy = copy_of(book)
      assert_equal book.attributes, copy.attributes, what
      assert_equal book.attributes, copy_of(copy).attributes, what
      assert_equal book.attributes_for_database, copy.attributes_for_database, what
    end
  end

  test "what a record holds is not shared with its copies" do
    book = Book.order(:id).first
    copy = copy_of(book)
    copy.title << "!"
    copy.tags << "more"
    assert_equal Book.order(:id).first.attributes, book.attributes
    assert_equal "#{book.title}!", copy.title
  end

  test "attributes are stored as the database gave them, without being read" do
    book = Book.order(:id).first
    Larder::Tree.dump(book, true)
    assert_empty book.instance_variable_get(:@attributes).instance_variable_get(:@casted_values)
  end

  test "records that come back have associations of their own" do
    Author.create!(name: "Bob")
    books = Book.includes(:author).order(:id).to_a
    copies = copy_of(books)
    copies[1].author = Author.find_by!(name: "Bob")
    assert_equal %w[Ann Bob Ann], copies.map { |book| book.author.name }
    assert_equal(copies, copies.map { |book| book.association(:author).owner })
    authors = copy_of(Author.includes(:books).order(:id).to_a)
    authors[1].books << Book.new(title: "Bob's")
    assert_equal [3, 1], authors.map { |author| author.books.size }
    copies[2].association(:author).reset
    assert_equal [true, true, false], copies.map { |book| book.association(:author).loaded? }
  end

  test "a record with a column more, or one less, is left to Marshal" do
    columns = Book.column_names
    [columns + ["1 AS one"], columns.first(2), columns.drop(1) + ["1 AS one"]].each do |chosen|
      few = Book.select(chosen)
      assert_nil Larder::Tree.dump(few.first, true)
    end
  end

  test "what was built into an association comes back with it" do
    author = Author.first.tap { |found| found.books.build(title: "next") }
    copy = Larder::Tree.load(Larder::Tree.dump(author, true), false, nil).first
    assert_equal ["next"], copy.association(:books).target.map(&:title)
  end

  include TemporaryDirectory

  test "a record whose class declares how it is cached comes back with its attributes" do
    Declared.update_all(cover: nil) # JSON has no bytes
    books = Declared.order(:id).to_a
    copies = serializer(:native).load(serializer(:native).dump(books))
    assert_equal books.map(&:attributes), copies.map(&:attributes)
    assert copies.all?(&:persisted?)
  end
end
