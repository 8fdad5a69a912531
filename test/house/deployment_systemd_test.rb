# frozen_string_literal: true

require "test_helper"
require "json"
require "support/systemd_machine"

module House
  # The unit of the guide to deployment, and its table of settings, run by systemd.
  class DeploymentSystemdTest < ActiveSupport::TestCase
    include TemporaryDirectory

    GUIDE = File.expand_path("../../docs/guides/deployment.md", __dir__)
    UNIT = File.read(GUIDE, encoding: "UTF-8")[/^```ini\n(.*?)^```/m, 1]
    # Runs in the place of the application: notes what it finds, and stores its argument. With "die" it is killed after
    # that. With "until NAME" it waits until that unit has printed something.
    VISITOR = <<~RUBY
      require "larder"
      require "larder/bytes/doctor"
      require "json"
      value, action, name = ARGV
      $stdout.sync = true
      sleep(0.01) until action != "until" || File.size?(File.join(ENV.fetch("OUTPUT"), name))
      writable = %w[/ /etc /usr /var/lib /srv /srv/larder /srv/shop /srv/shop/current].select { |path| File.writable?(path) }
      begin
        path = ENV.fetch("LARDER_PATH")
        cache = Larder::Cache.open(path, size: 8 << 20)
        told = { found: cache.get("k"), limit: Larder::MemoryLimit.bytes, writable: writable,
                 findings: Larder::Doctor.run(path).findings.map(&:to_s) }
        12_000.times { |i| cache.set("filler \#{i}", "x" * 1000) } # so that segments are emptied
        cache.set("k", value)
      rescue Larder::OpenError => error
        told = { error: error.message }
      end
      puts told.to_json
      Process.kill(:KILL, Process.pid) if action == "die"
    RUBY

    test "systemd-analyze has no objections to the unit" do
      skip "systemd-analyze is not installed" unless system("which systemd-analyze", out: File::NULL)
      file = path_of("shop.service")
      File.write(file, UNIT.sub(/^ExecStart=.*/, "ExecStart=/bin/true"))
      output, status = Open3.capture2e("systemd-analyze", "verify", file)
      assert_predicate status, :success?, output
      assert_no_match(/shop\.service.*(?:Unknown|ignoring|invalid)/i, output)
    end

    test "the unit finds what its former start has stored, also one that was killed, and may write nowhere else" do
      first, second, third = visits({ "a" => UNIT, "b" => UNIT, "c" => UNIT }, { "b" => "die" })
      assert_equal [nil, "a", "b"], [first, second, third].map { |told| told["found"] }
      [first, second, third].each do |told|
        assert_equal [[], [], 2 << 30], told.values_at("findings", "writable", "limit")
      end
    end

    test "without a state directory the file system is read-only" do
      told, = visits({ "a" => UNIT.sub(/^StateDirectory=.*\n/, "") })
      assert_match(%r{/var/lib is on a read-only file system: name a file on a volume}, told["error"])
    end

    test "PrivateTmp=yes: each unit has a file in /tmp of its own" do
      unit = UNIT.sub("/var/lib/shop/larder", "/tmp/larder")
      assert_equal [nil, nil], found_by({ "a" => unit, "b" => unit })
    end

    test "a cache directory is writable, too" do
      unit = UNIT.sub("StateDirectory=", "CacheDirectory=").sub("/var/lib/shop", "/var/cache/shop")
      assert_equal [nil, "a"], found_by({ "a" => unit, "b" => unit })
    end

    test "settings that have no effect have none" do
      names = File.read(GUIDE)[/^\| (`MemoryDenyWriteExecute`.*?) \| none for Larder/, 1].delete("`").split(", ")
      assert_operator names.size, :>, 5
      values = { "ProtectProc" => "invisible" }
      unit = UNIT + "\n[Service]\n#{names.map { |name| "#{name}=#{values.fetch(name, "yes")}" }.join("\n")}\n"
      first, second = visits({ "a" => unit, "b" => unit }, { "a" => "die" })
      assert_equal [nil, "a", [], []], [first["found"], second["found"], first["findings"], second["findings"]]
    end

    test "DynamicUser=yes: one unit keeps its cache" do
      unit = UNIT.sub("User=shop", "DynamicUser=yes")
      assert_equal [nil, "a"], found_by({ "a" => unit, "b" => unit })
    end

    test "DynamicUser=yes: units with one name share the cache, and others take the directory away" do
      shared, separate = ["DynamicUser=yes\nUser=shopping", "DynamicUser=yes"].map do |lines|
        unit = UNIT.sub("User=shop", lines)
        visits({ "a" => unit, "b" => unit }, { "a" => "until b" }, at_once: true).first
      end
      assert_equal "b", shared["found"]
      assert_match(/\. \S+ belongs to \w+, and \w+, who runs this process, may not/, separate["error"])
    end

    test "DynamicUser=yes: a file in /dev/shm is removed when the unit stops" do
      found = [{ "DynamicUser" => "yes" }, { "User" => "shop" }].map do |user|
        lines = user.map { |name, value| "#{name}=#{value}" }.join
        unit = UNIT.sub("User=shop", lines).sub("/var/lib/shop/larder", "/dev/shm/larder-shop")
        found_by({ "a" => unit, "b" => unit }).last
      end
      assert_equal [nil, "a"], found
    end

    test "ProcSubset=pid: the cache is empty after all processes were killed, and only then" do
      unit = "#{UNIT}\n[Service]\nProcSubset=pid\n"
      assert_equal [nil, "a", nil], found_by({ "a" => unit, "b" => unit, "c" => unit }, { "b" => "die" })
    end

    private

    # @param units [Hash{String => String}] by name
    # @param actions [Hash{String => String}] of the visitors
    # @return [Array<Hash>] what each has found
    def visits(units, actions = {}, **settings)
      missing = SystemdMachine.missing and skip(missing)
      drop_ins = units.to_h { |name, _| [name, drop_in(name, actions[name])] }
      SystemdMachine.run(units, drop_ins, { "visitor.rb" => VISITOR }, **settings).map do |name, lines|
        assert_equal 1, lines.grep(/\A\{/).size, "#{name}: #{lines.join("\n")}"
        JSON.parse(lines.grep(/\A\{/).first)
      end
    end

    # @return [Array<String, nil>] the value that each has read
    def found_by(units, actions = {})
      visits(units, actions).map { |told| told["found"] }
    end

    # A minus in front: that the process is killed does not end the machine.
    def drop_in(name, action)
      ["Environment=OUTPUT=#{SystemdMachine::OUTPUT} LARDER_SIZE=8MB", "ExecStart=",
       "ExecStart=-#{RbConfig.ruby} -I#{SystemdMachine::CHECKOUT}/lib #{SystemdMachine::OUTPUT}/visitor.rb " \
       "#{name} #{action}"].join("\n")
    end
  end
end
