# frozen_string_literal: true

require "support/store_case"

module Security
  # What is cached must not come out anywhere else: in logs, reports, messages, other programs.
  class LeaksTest < StoreCase
    SECRET = "4111-1111-1111-1111"

    test "no value is in the log, at any level" do
      log = log_of { use(store) }
      assert_not_empty log
      assert_not_includes log, SECRET
    end

    test "no value is in what is announced, but for write_multi's, where Rails puts them itself" do
      payloads = events_of { use(store) }.reject { |event| event.name.start_with?("cache_write_multi") }
      payloads.map! { |event| event.payload.inspect }
      assert_not_empty payloads
      assert_empty payloads.grep(/#{SECRET}/o)
    end

    test "failures are reported without keys and values" do
      cache = new_store
      cache.cache.close
      log = log_of { @reports = reports_of { use(cache) } }
      texts = @reports.map { |report| [report[:error].full_message(highlight: false), report.except(:error)].inspect }
      assert_not_empty texts
      failures = log.lines.grep(/LarderStore/)
      assert_not_empty failures
      assert_empty([*failures, *texts].grep(/#{SECRET}|private-key/o))
    end

    test "errors of the byte cache name the key at most, never the value" do
      errors = [-> { store.cache.increment("k") }, -> { store.cache.set("k", SECRET, ttl: "soon") },
                -> { store.cache.set("k" * 5000, SECRET) }, -> { store.cache.set("k", SECRET * 10_000_000) }]
      store.cache.set("k", SECRET)
      errors.each do |call|
        error = assert_raises(StandardError, &call)
        assert_not_includes error.message, SECRET
      end
    end

    test "inspect shows neither values nor addresses of them" do
      store.write("private-key", SECRET)
      [store, store.cache].each { |object| assert_not_includes object.inspect, SECRET }
    end

    test "a program that is started inherits no descriptor of the cache" do
      store.write("key", SECRET)
      listing = IO.popen(["ls", "-l", "/proc/self/fd"], close_others: false, &:read)
      assert_includes listing, "->"
      assert_not_includes listing, "test.larder"
    end

    test "the mapping is of the file and shared, which kernels leave out of core dumps unless told otherwise" do
      store.write("key", SECRET)
      lines = File.readlines("/proc/self/maps").grep(/test\.larder$/)
      assert_not_empty lines
      assert_empty lines.grep_v(/ rw-s /)
    end

    test "file and directories are their owner's alone, whatever the umask" do
      [0, 0o022, 0o077].each do |mask|
        before = File.umask(mask)
        begin
          new_store("mask#{mask}/cache.larder").write("key", SECRET)
        ensure
          File.umask(before)
        end
        assert_equal 0o700, File.stat(path_of("mask#{mask}")).mode & 0o777
        %w[cache.larder cache.larder.lock].each do |name|
          assert_equal 0o600, File.stat(path_of("mask#{mask}/#{name}")).mode & 0o777
        end
      end
    end

    private

    def use(cache)
      cache.write("private-key", SECRET, expires_in: 60)
      cache.read("private-key")
      cache.fetch("private-key") { SECRET }
      cache.fetch("another private-key") { [SECRET] }
      cache.read_multi("private-key", "b")
      cache.write_multi({ "private-key" => SECRET })
      cache.delete("private-key")
    end
  end
end
