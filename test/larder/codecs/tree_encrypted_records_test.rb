# frozen_string_literal: true

# Active Record Encryption: what is in the cache of a record is its ciphertext.

require "support/store_case"
require "active_record"

class LarderTreeEncryptedRecordsTest < StoreCase
  ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Encryption.configure(primary_key: ["a" * 32, "b" * 32], deterministic_key: "d" * 32,
                                     key_derivation_salt: "s" * 32)
  ActiveRecord::Schema.define do
    create_table(:patients) do |table|
      table.string :name, :mail, :nick, :original_nick, :plain, :type
      table.text :record, :settings
    end
    create_table(:visits) { |table| table.integer :patient_id }
  end

  class Patient < ActiveRecord::Base
    encrypts :name
    encrypts :mail, deterministic: true, previous: { deterministic: false }
    encrypts :nick, deterministic: true, ignore_case: true
    serialize :record, coder: JSON
    encrypts :record
    store :settings, accessors: [:color], coder: JSON
    encrypts :settings
    has_many :visits, class_name: "LarderTreeEncryptedRecordsTest::Visit", inverse_of: :patient
  end

  class Child < Patient
  end

  class Visit < ActiveRecord::Base
    belongs_to :patient, class_name: "LarderTreeEncryptedRecordsTest::Patient", inverse_of: :visits
  end

  SECRET = /SECRET\w*/
  ENCRYPTED = %w[name mail nick original_nick record settings].freeze
  READ = ->(record) { [record.name, record.mail, record.nick, record.record, record.color, record.plain] }

  # A class that only Marshal knows.
  Unknown = Class.new

  setup do
    [Patient, Visit].each(&:delete_all)
    @patient = Child.create!(name: "SECRETname", mail: "SECRETmail", nick: "SECRETnick", plain: "plain",
                             record: { "a" => "SECRETrecord" }, color: "SECRETcolor")
    Visit.create!(patient: @patient)
  end

  # As applications have it from Rails 7.1's defaults on, and before.
  def self.in_both_formats(sentence, &block)
    [6.1, 7.1].each do |version|
      test("#{sentence}, in format #{version}") do
        before, ActiveRecord::Marshalling.format_version = ActiveRecord::Marshalling.format_version, version
        instance_exec(&block)
      ensure
        ActiveRecord::Marshalling.format_version = before
      end
    end
  end

  def found = Patient.find(@patient.id)

  # Stores a value, sees no plain text in the file's bytes of it, and returns what is read.
  def through(value)
    store.write("key", value)
    bytes, = store.level.records.get("key", nil)
    assert_empty bytes.scan(SECRET)
    store.read("key")
  end

  def raw(record) = record.attributes_before_type_cast.slice(*ENCRYPTED)

  WAYS = {
    "untouched" => ->(record) { record }, "read" => ->(record) { READ.call(record) && record },
    "its attributes" => ->(record) { record.attributes && record }, "shown" => ->(record) { record.inspect && record },
    "one read" => ->(record) { record.name && record }, "assigned its value" => ->(record) { record.tap(&:changed?) },
    "reloaded" => ->(record) { record.tap { READ.call(record) }.reload }
  }.freeze

  WAYS.each do |name, way|
    in_both_formats "a record that was #{name} keeps the ciphertext of the database, wherever it stands" do
      expected = raw(found)
      values = { alone: ->(record) { record }, hash: ->(record) { { record: record, at: 1 } },
                 list: ->(record) { [record, "text"] }, association: ->(record) { record.visits.load.first } }
      values.each do |place, value|
        copy = through(value.call(way.call(found)))
        copy = { hash: -> { copy[:record] }, list: -> { copy.first }, association: -> { copy.patient } }
               .fetch(place, -> { copy }).call
        assert_equal expected, raw(copy), place
        assert_equal READ.call(found), READ.call(copy), place
        refute_predicate copy, :changed?
      end
    end
  end

  in_both_formats "a list of records that were read keeps their ciphertext, with others in it" do
    others = [Visit.first, *Patient.all.each { |record| READ.call(record) }, Visit.includes(:patient).first]
    copy = through(others)
    assert_equal READ.call(found), READ.call(copy[1])
    assert_equal raw(found), raw(copy[1])
  end

  in_both_formats "a value that was changed and not saved is encrypted, and so are those of a new record" do
    changes = { name: ->(record) { record.name = "SECRETnew" }, in_place: ->(record) { record.name << "SECRETmore" },
                mail: ->(record) { record.mail = "SECRETother" }, record: ->(record) { record.record["b"] = "SECRETb" },
                store: ->(record) { record.color = "SECRETblue" }, nick: ->(record) { record.nick = "SECRETNick" },
                nothing: ->(record) { record.name = nil }, same: ->(record) { record.name = record.name.dup } }
    changes.each do |name, change|
      record = found
      change.call(record)
      assert_equal READ.call(record), READ.call(through(record)), name
    end
    record = Patient.new(name: "SECRETname", mail: "SECRETmail", record: ["SECRET"])
    assert_equal READ.call(record), READ.call(through(record))
    assert_equal READ.call(record), READ.call(through(record.tap(&:save!)))
    record.update!(name: "SECRETupdated", record: { "c" => "SECRET" })
    assert_equal READ.call(record), READ.call(through(record))
    assert_equal READ.call(record), READ.call(through(record.dup))
  end

  in_both_formats "the ciphertext of a former key or scheme stays as it is" do
    before = found
    raws = { "name" => encrypt("SECRETa", key_provider: key("a")), "mail" => encrypt("SECRETold") }
    quoted = raws.map { |name, text| "#{name} = #{Patient.connection.quote(text)}" }
    Patient.connection.update("UPDATE patients SET #{quoted.join(", ")} WHERE id = #{before.id}")
    record = found
    assert_equal %w[SECRETa SECRETold], [record.name, record.mail]
    copy = through(record)
    assert_equal raws, raw(copy).slice("name", "mail")
    assert_equal %w[SECRETa SECRETold], [copy.name, copy.mail]
  end

  def key(letter) = ActiveRecord::Encryption::DerivedSecretKeyProvider.new(letter * 32)

  def encrypt(text, **options)
    ActiveRecord::Encryption::Encryptor.new.encrypt(text, **options)
  end

  in_both_formats "contexts of the caller do not change what is kept" do
    expected = raw(found)
    [:without_encryption, :protecting_encrypted_data].each do |context|
      copy = nil
      ActiveRecord::Encryption.public_send(context) do
        copy = through(found.tap { |record| READ.call(record) })
        assert_equal expected, raw(copy)
      end
      assert_equal READ.call(found), READ.call(copy), context
      outside = found.tap { |record| READ.call(record) }
      ActiveRecord::Encryption.public_send(context) { copy = through(outside) }
      assert_equal [expected, READ.call(found)], [raw(copy), READ.call(copy)], context
      changed = found.tap { |record| record.name = "SECRETchanged" }
      ActiveRecord::Encryption.public_send(context) { copy = through(changed) }
      assert_equal "SECRETchanged", copy.name, context
    end
  end

  test "a record in a state that only Marshal has keeps its ciphertext in format 7.1" do
    before, ActiveRecord::Marshalling.format_version = ActiveRecord::Marshalling.format_version, 7.1
    some = Patient.select(:id, :name, :type).find(@patient.id)
    [found.tap(&:readonly!), some].each do |record|
      assert_equal "SECRETname", record.name
      assert_equal "SECRETname", through(record).name
    end
    assert_equal "SECRETname", through([found.tap(&:name), Unknown.new]).first.name
  ensure
    ActiveRecord::Marshalling.format_version = before
  end

  test "a class that declares an encrypted attribute later is noticed, and one without is kept as before" do
    script = <<~RUBY
      require "active_support/all"
      require "active_record"
      require "active_support/cache/larder_store"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define { create_table(:notes) { |table| table.string :text } }
      ActiveSupport::Cache.format_version = 7.1
      ActiveRecord::Encryption.configure(primary_key: "a" * 32, deterministic_key: "d" * 32, key_derivation_salt: "s")
      class Note < ActiveRecord::Base
        attr_accessor :more
      end
      store = ActiveSupport::Cache::LarderStore.new(ARGV.first, size: 4 << 20)
      note = Note.create!(text: "text")
      note.more = 5
      store.write("note", note)
      p store.read("note").more
      Note.encrypts :text
      Note.create!(text: "SECRET").text
      store.write("note", Note.last.tap(&:text))
      p store.read("note").text, File.binread(ARGV.first).include?("SECRET")
    RUBY
    lines = run_ruby(script, path_of("notes.larder"), options: ["-W0"]).lines.map(&:chomp)
    assert_equal ["5", "\"SECRET\"", "false"], lines
  end
end
