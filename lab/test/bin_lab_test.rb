# frozen_string_literal: true

require "test_helper"

# bin/lab as far as it goes without installing anything; what it installs is in the way of every other test.
class BinLabTest < ActiveSupport::TestCase
  PROGRAM = File.expand_path("../../bin/lab", __dir__)

  setup { skip "needs the checkout" unless File.exist?(PROGRAM) }

  test "help tells what it needs and every option of larder-lab overview" do
    out, _, status = Open3.capture3(PROGRAM, "--help")
    assert_predicate status, :success?
    assert_match(/Needed: Ruby 3\.1 or newer/, out)
    assert_match(/--blocks/, out)
    assert_match(/--no-install/, out)
    assert_empty(out.lines.map(&:chomp).select { |line| line.size > 80 })
  end

  test "what is missing is named, with the package to install" do
    with_directory do |dir|
      ["bash", "dirname"].each do |name|
        path = ["/bin", "/usr/bin"].map { |bin| File.join(bin, name) }.find { |file| File.exist?(file) }
        File.symlink(path, File.join(dir, name))
      end
      _, err, status = Open3.capture3({ "PATH" => dir }, "bash", PROGRAM)
      assert_equal 1, status.exitstatus
      assert_match(/Ruby is missing: install Ruby 3\.1 or newer \(Debian: apt-get install/, err)
    end
  end

  # Installing is replaced by a word, and the table of servers by two of them.
  MACHINE = <<~BASH
    set -euo pipefail
    say() { echo "bin/lab: $*"; }
    die() { say "$*"; exit 1; }
    . "$1/rakelib/house/apt.sh"
    . "$1/rakelib/house/lab_servers.sh"
    missing_lab_packages() { [ "$COMPILER" = yes ] || echo build-essential; }
    missing_servers() {
        [ -e "$REFUSED.installed" ] || echo "redis-server redis-server the Redis rows"
        echo "valkey-server valkey-server the Valkey row"
        echo "postgresql postgres the PostgreSQL rows"
    }
    install_all() { echo "installs $*" && : >"$REFUSED.installed"; }
    can_install() { [ "$ROOT" = yes ]; }
    at_terminal() { [ "$TERMINAL" = yes ]; }
    settle_packages "$2" "$REFUSED" "$SERVERS"
  BASH

  test "as root without a terminal it installs what is missing, and says what stays missing" do
    installed, left_out = settle("ask", root: "yes")
    assert_equal "installs redis-server valkey-server", installed
    assert_equal "bin/lab: leaves out the Valkey row (valkey-server is missing); " \
                 "sudo bin/servers installs them on Debian", left_out
  end

  test "a bare container gets a compiler as well, and a command without servers only that" do
    machine = { root: "yes", compiler: "no" }
    assert_equal "installs build-essential redis-server valkey-server", settle("ask", **machine).first
    assert_equal ["installs build-essential"], settle("ask", servers: "no", **machine)
    assert_empty settle("no", servers: "no", **machine)
  end

  test "a machine without Ruby and a compiler needs packages for them, a complete one needs none" do
    script = '. "$1/rakelib/house/apt.sh"; needed_packages'
    run = lambda do |env|
      out, err, = Open3.capture3(env, "/bin/bash", "-c", script, "bash", File.expand_path("../..", PROGRAM))
      assert_empty err
      out.split
    end
    with_directory do |dir|
      assert_equal %w[ruby ruby-bundler ruby-dev build-essential], run.call("PATH" => dir) - ["ca-certificates"]
    end
    assert_empty run.call({})
  end

  test "at a terminal it asks once, and remembers a no" do
    left_out = /leaves out the Redis rows \(redis-server is missing\), the Valkey row/
    with_directory do |dir|
      [["n\n", left_out], ["", left_out]].each do |answer, words|
        assert_match words, settle("ask", root: "yes", terminal: "yes", dir: dir, stdin: answer).join
      end
      assert_match(/^installs/, settle("yes", root: "yes", terminal: "yes", dir: dir).first)
    end
    assert_match(/^installs/, settle("ask", root: "yes", terminal: "yes", stdin: "\n").first)
  end

  test "where it must not install, or cannot, it says what is left out; if it was asked to, it fails" do
    [settle("no", root: "yes"), settle("ask")].each do |lines|
      assert_equal 1, lines.size
      assert_match(/\Abin\/lab: leaves out the Redis rows/, lines.first)
    end
    assert_match(/--install needs root and apt-get: install redis-server valkey-server/, settle("yes", status: 1).join)
  end

  private

  # @return [Array<String>] lines that it printed
  def settle(how, dir: nil, stdin: "", status: 0, **machine)
    return with_directory { |own| settle(how, dir: own, stdin: stdin, status: status, **machine) } unless dir

    machine = { root: "no", terminal: "no", compiler: "yes", servers: "yes" }.merge(machine)
    env = machine.transform_keys { |name| name.to_s.upcase }.merge("REFUSED" => File.join(dir, "no"))
    out, err, ended = Open3.capture3(env, "bash", "-c", MACHINE, "bash", File.expand_path("../..", PROGRAM), how,
                                     stdin_data: stdin)
    assert_equal status, ended.exitstatus, out + err
    out.lines.map(&:chomp)
  end
end
