# frozen_string_literal: true

require "active_support/cache/larder_store"
require "larder/sessions"
require "support/dashboard_case"
require "support/dashboard_tables"

module Larder
  class Dashboard
    module Pages
      class MachinesTest < DashboardCase
        include DashboardTables

        # Answers or refuses calls.
        class Shared < ActiveSupport::Cache::MemoryStore
          attr_accessor :down

          %i[read_entry write_entry delete_entry].each do |name|
            define_method(name) do |*arguments, **options|
              raise Errno::ECONNREFUSED if down

              super(*arguments, **options)
            end
          end
          private :read_entry, :write_entry, :delete_entry
        end

        setup { @shared = Shared.new }

        def machine(name, **options)
          store = ActiveSupport::Cache::LarderStore.new(path_of(name), remote: @shared, error_handler: nil, **options)
          store.tap { store.cache.size } # makes the file
        end

        # Stores the status of a machine, with changes.
        def publish(number, **changes)
          status = machine("one").level.roster.own.to_h.merge(id: format("%016x", number), here: false, **changes)
          @shared.write("larder/machines/#{status[:id]}", Larder::Store::MachineStatus.new(**status).text, raw: true)
          ids = JSON.parse(@shared.read("larder/machines") || "{}").merge(status[:id] => Time.now.to_i)
          @shared.write("larder/machines", JSON.generate(ids), raw: true)
        end

        test "machines are shown with their state, this one first" do
          machine("two").level.roster.publish
          use(cache: machine("one"))
          page("machines")
          assert_includes navigation, "Machines"
          rows = rows_of("Machines")
          assert_equal 2, rows.size
          assert_match(/this machine.*one\z/, rows[0][0])
          assert_equal ["Copies are trusted.", "now"], rows[0][1, 2]
          assert_match(/two\z/, rows[1][0])
          assert_includes main, "2 machines They share"
        end

        test "a machine that has gone is shown as it was seen last" do
          publish(1, host: "gone", seen_at: Time.now.to_f - 720, trusted: false, backplane: true, listener: false)
          use(cache: machine("one"))
          page("machines")
          row = rows_of("Machines").last
          assert_equal "12m ago", row[2]
          assert_match(/\AWhen it was last seen:.*not trusted.*No process listens/, row[1])
        end

        test "changes that wait are shown, how many and since when" do
          since = Time.now - 60
          publish(1, host: "a", waiting: true, listed: 3, waiting_since: since.to_f)
          publish(2, host: "b", waiting: true, listed: nil, overflown: nil)
          publish(3, host: "c", waiting: true, listed: 9, overflown: true, unsent: true, paused: true, trusted: nil)
          use(cache: machine("one"))
          page("machines")
          states = rows_of("Machines").drop(1).map { |row| row[1] }
          assert_includes states[0], "3 changes wait for the store since #{since.strftime("%H:%M")}."
          assert_includes states[1], "Its journal cannot be opened"
          assert_match(/cannot be opened.*will be cleared.*do not know of its last changes.*not called for a moment/,
                       states[2])
        end

        test "if the remote store does not answer, this machine is shown, and why the others are not" do
          machine("two").level.roster.publish
          @shared.down = true
          use(cache: machine("one"))
          page("machines")
          assert_equal 1, rows_of("Machines").size
          assert_match(/The other machines are not known: the remote store could not read/, main)
        end

        test "texts that others have written there are escaped" do
          publish(1, host: "<script>alert(1)</script>", path: "\u202e\"'&", larder: "<b>")
          use(cache: machine("one"))
          page("machines")
          assert_no_match(/<script>|<b>/, last_response.body)
          assert_match(/\A<script>alert.*\\xE2\\x80\\xAE"'&\z/, rows_of("Machines").last.first)
        end

        test "a cache of one machine, and a dashboard with a file, say why there are no machines" do
          use(cache: ActiveSupport::Cache::LarderStore.new(path_of))
          page("machines")
          assert_includes main, "backplane: ENV"
          assert_not_includes navigation, "Machines"
          use(cache: path_of)
          page("machines")
          assert_includes main, "This dashboard was given a file."
        end

        test "a file that is not there is not created" do
          use(cache: ActiveSupport::Cache::LarderStore.new(path_of("none"), remote: @shared))
          page("machines")
          assert_equal "There is no file yet", document.at_css("h1").text
          assert_empty Dir[path_of("none*")]
        end

        test "sessions whose store has not got all changes are shown" do
          sessions = ::Larder::Sessions.repository(file: path_of("sessions"), size: 1 << 20,
                                                   backed_by: [:file_store, path_of("copies")])
          ::Larder::Sessions.use(sessions)
          sessions.begin("k" * 32, { "user_id" => 7 })
          page("machines")
          assert_includes main, "Their store is ActiveSupport::Cache::FileStore. No change waits for it."
        end
      end
    end
  end
end
