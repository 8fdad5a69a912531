# frozen_string_literal: true

require "json"
require "larder/cli/registry"
require_relative "../sessions/row"

module Larder
  module Lab
    # What questions about sessions cost. Each store proves that its answers are right before it is measured.
    # @api private
    module SessionStats
      # The questions, in words.
      QUESTIONS = { logged_in: "is a user logged in, who is", logged_out: "is a user logged in, who is not",
                    last_seen: "when was a user last seen", for: "the sessions of a user",
                    active_5m: "sessions active in five minutes", active_1d: "sessions active in a day",
                    all: "all sessions" }.freeze

      # Those that can take part, by the names users type.
      module Stores
        extend CLI::Registry
        holds "contender"
      end

      # A store. A subclass has `connect`, `load`, `bytes`, `ask(question, argument)`, `use(number, from, to)`, which
      # makes code that notes a use of a session and moves its last use between these times, and `grain(seconds)`: to
      # how many seconds an answer is right.
      class Row < Sessions::Row
        # Seconds of the questions about activity.
        WINDOWS = { active_5m: 300, active_1d: Sessions::Population::DAY }.freeze

        declares registry: Stores, bundle: "sessions"

        # Loads the sessions.
        def open
          @population = Sessions::Population.new(SESSIONS, at: Sessions::Population.moment(Time.now.to_i))
          @popular = Sessions::Population.sample(SESSIONS, POPULAR, Random.new(SEED))
          super
        end

        # Each question about `count` users is answered rightly, and a use that is noted is counted.
        def prove(count)
          QUESTIONS.each do |name, title|
            question = question(name)
            count.times { |turn| question.call(turn) or raise Invalid, "a wrong value: #{title}" }
          end
          prove_use(@population.of_a_minute_ago(50))
        end

        # Code that asks one of the {QUESTIONS}, and answers whether the answer is right.
        def question(name)
          case name
          when :logged_in then about(true) { |_, user| ask(:logged_in, user) }
          when :logged_out then about(false) { |_, user| !ask(:logged_in, user) }
          when :last_seen then about(true) { |number, user| near?(number, ask(:last_seen, user)) }
          when :for then about(true) { |number, user| one?(number, ask(:for, user)) }
          when :all then ->(_) { ask(:all, nil) == SESSIONS }
          else active(WINDOWS.fetch(name))
          end
        end

        # Code that notes a use of a session whose last one was a minute ago; the next call takes it back.
        def noting
          uses = to_and_fro(@population.of_a_minute_ago(POPULAR))
          lambda do |turn|
            uses[turn % uses.size].call
            true
          end
        end

        # The bytes of a session, with everything that answers need.
        def bytes_each = bytes / SESSIONS

        private

        def prove_use(numbers)
          right = ask(:active, 1) + numbers.size
          there, back = to_and_fro(numbers).each_slice(2).to_a.transpose
          there.each(&:call)
          found = ask(:active, 1)
          back.each(&:call)
          numbers.each { |number| use(number, a_minute_ago, @population.used(number)).call }
          raise Invalid, "a wrong value: sessions used just now are #{found} instead of #{right}" if found != right
        end

        # Uses that move each session from a minute ago to now, and back. They count as used a minute ago from now on.
        def to_and_fro(numbers)
          numbers.flat_map do |number|
            use(number, @population.used(number), a_minute_ago).call
            [use(number, a_minute_ago, @population.at), use(number, @population.at, a_minute_ago)]
          end
        end

        def a_minute_ago = @population.at - Sessions::Population::MINUTE

        def about(signed_in)
          numbers = @popular[signed_in]
          lambda do |turn|
            number = numbers[turn % numbers.size]
            yield number, user(number)
          end
        end

        def user(number) = Sessions::Population.user(number)

        def values(number) = Sessions::Population.values(user(number))

        def one?(number, times) = times.size == 1 && near?(number, times.first)

        def near?(number, time) = !time.nil? && (@population.used(number) - time).abs <= grain(0)

        # As right as is documented.
        def active(seconds)
          right = @population.active(seconds)..@population.active(seconds + grain(seconds))
          ->(_) { right.cover?(ask(:active, seconds)) }
        end
      end

      module Stores
        # Larder::Sessions, asked as an application asks it.
        class LarderStore < Row
          named "larder", "Larder::Sessions: an index of users and counters beside the sessions, in the same file"

          # Bytes of the file for each session, and at least: those who are signed in may have two thirds of it.
          ROOM = 900
          LEAST = 16 * 1024 * 1024
          # Calls of Larder::Sessions, and the part of their answers that is compared.
          ASKED = { logged_in: ->(user) { ::Larder::Sessions.logged_in?(user) },
                    last_seen: ->(user) { ::Larder::Sessions.last_seen(user).to_i },
                    for: ->(user) { ::Larder::Sessions.for(user).map { |info| info.used_at.to_i } },
                    active: ->(seconds) { ::Larder::Sessions.active(last: seconds) },
                    all: ->(_) { ::Larder::Sessions.stats[:sessions] } }.freeze

          # @return [Hash{Symbol=>Object}] for the record
          def recorded = { store: :larder_store, options: { **lifetimes, room: ROOM } }

          private

          def connect
            require "larder/sessions"
            require "larder/sessions/backends/file"
            @cache = ::Larder::Cache.open(File.join(dir, "sessions.larder"), size: [SESSIONS * ROOM, LEAST].max)
            @repository = repository
            @repository.index.announce
            ::Larder::Sessions.use(@repository)
          end

          # Begins all sessions, each at its time.
          def load
            SESSIONS.times do |number|
              @now = @population.used(number)
              @repository.begin(key(number), values(number)) or
                raise Invalid, "session #{number} could not be begun"
            end
            @now = @population.at
          end

          def bytes = @cache.stats[:used_bytes]

          def ask(question, argument) = ASKED.fetch(question).call(argument)

          # As documented.
          def grain(seconds)
            return Sessions::Population::MINUTE if seconds <= 2 * Sessions::Population::HOUR

            seconds <= 3 * Sessions::Population::DAY ? Sessions::Population::HOUR : Sessions::Population::DAY
          end

          def use(number, from, to)
            index = @repository.index
            before, after = [from, to].map { |used| @repository.record(key(number)).with(used: used) }
            -> { index.counting(before, after) { :stored } }
          end

          def key(number) = [@population.digest(number)].pack("H*")

          # As the middleware makes it, but for the clock.
          def repository
            sessions = ::Larder::Sessions
            sessions::Repository.new(backend: sessions::Backends::File.new(@cache),
                                     format: sessions::Format.fetch(:json),
                                     lifetimes: sessions::Lifetimes.new(**lifetimes),
                                     per_user: sessions::Configuration::PER_USER, clock: -> { @now },
                                     report: ->(error) { raise Invalid, error.message })
          end

          def lifetimes
            { idle: ::Larder::Sessions::Configuration::IDLE, anonymous: ::Larder::Sessions::Configuration::ANONYMOUS }
          end
        end

        # A table of sessions as an application makes it to answer questions about them, and hand-written SQL for each
        # question, with "?" for values. A subclass has `database`, `rows` of a statement, which {#prepared} makes of
        # the SQL, `settle` (done after loading) and `bytes`.
        class Table < Row
          TIME = "%Y-%m-%d %H:%M:%S"
          TABLE = "session_statistics"
          # Besides the one of session_id, which is unique.
          INDEXES = %i[user_id updated_at].freeze
          SQL = { logged_in: "SELECT 1 FROM #{TABLE} WHERE user_id = ? LIMIT 1",
                  last_seen: "SELECT MAX(updated_at) FROM #{TABLE} WHERE user_id = ?",
                  for: "SELECT updated_at, created_at, session_id, data FROM #{TABLE} WHERE user_id = ? " \
                       "ORDER BY updated_at DESC",
                  active: "SELECT COUNT(*) FROM #{TABLE} WHERE updated_at >= ?",
                  all: "SELECT COUNT(*) FROM #{TABLE}",
                  use: "UPDATE #{TABLE} SET updated_at = ? WHERE session_id = ?" }.freeze

          # @return [Hash{Symbol=>Object}] for the record, without secrets
          def recorded
            { store: :table, indexes: [:session_id, *INDEXES], server: connection.select_value("SELECT VERSION()") }
          end

          private

          def connect
            require "active_record"
            ActiveRecord::Base.establish_connection(database)
            connection.select_value("SELECT 1")
            @statements = SQL.transform_values { |sql| prepared(sql) }
          rescue ActiveRecord::ActiveRecordError => error
            raise no_answer(error)
          end

          def connection = ActiveRecord::Base.connection

          # Many rows at once, then the indexes.
          def load
            create
            rows = (0...SESSIONS).map { |number| row(number) }
            model = Class.new(ActiveRecord::Base) { self.table_name = TABLE }
            rows.each_slice(TOGETHER) { |some| model.insert_all!(some) }
            connection.add_index(TABLE, :session_id, unique: true)
            INDEXES.each { |column| connection.add_index(TABLE, column) }
            settle
          end

          def ask(question, argument)
            argument = time(@population.at - argument) if question == :active
            found = rows(@statements.fetch(question), *argument)
            case question
            when :logged_in then found.any?
            when :last_seen then found.dig(0, 0).to_i
            when :for then found.map { |cells| cells.first.to_i }
            else found.dig(0, 0)
            end
          end

          def prepared(query) = query

          def grain(_seconds) = 0

          def use(number, _from, to)
            id, to = @population.digest(number), time(to)
            -> { rows(@statements[:use], to, id) }
          end

          def time(seconds) = Time.at(seconds).utc.strftime(TIME)

          def row(number)
            used = Time.at(@population.used(number)).utc
            user = user(number)
            { session_id: @population.digest(number), user_id: (user if Sessions::Population.signed_in?(user)),
              data: JSON.generate(values(number)), created_at: used, updated_at: used }
          end

          def create
            connection.create_table(TABLE, force: true) do |columns|
              columns.string :session_id, null: false, limit: 255
              columns.bigint :user_id
              columns.text :data
              columns.timestamps
            end
          end
        end

        # MariaDB by Trilogy, which prepares nothing on the server: values are put in by the adapter's quoting.
        class MariadbTable < Table
          named "sql-mariadb", "a table on MariaDB, indexed by session_id, user_id and updated_at; SQL by hand",
                gems: { "trilogy" => ">= 2.4" }, server: "mariadb"

          private

          def database = own_place(Contenders::OwnDatabase)

          def rows(query, *values)
            sql = query.gsub("?") { connection.quote(values.shift) }
            sql.start_with?("SELECT") ? connection.select_rows(sql) : connection.update(sql)
          end

          def settle = connection.execute("ANALYZE TABLE #{TABLE}")

          def bytes
            connection.select_value("SELECT data_length + index_length FROM information_schema.tables " \
                                    "WHERE table_schema = DATABASE() AND table_name = '#{TABLE}'")
          end
        end

        # PostgreSQL as initdb leaves it, with statements that it prepares once.
        class PostgresqlTable < Table
          named "sql-postgresql", "the same table on PostgreSQL; SQL by hand, prepared on the server",
                gems: { "pg" => ">= 1.1" }, server: "postgresql", bundle: "sessions_postgresql"

          private

          def database = own_place(Contenders::OwnSchema)

          # Values have numbers.
          def prepared(query)
            number = 0
            query.gsub("?") { "$#{number += 1}" }
          end

          def rows(query, *values) = connection.exec_query(query, "Statistics", values, prepare: true).rows

          # Pages that are all visible need not be looked at for a count by index.
          def settle = connection.execute("VACUUM ANALYZE #{TABLE}")

          def bytes = connection.select_value("SELECT pg_total_relation_size('#{TABLE}')")
        end
      end
    end
  end
end
