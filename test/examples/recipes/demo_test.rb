# frozen_string_literal: true

require "support/demo"
require "net/http"
require "timeout"
require "zlib"

# bin/demo, as somebody runs it: started, asked over HTTP, ended by Ctrl-C, and started again as another release; and
# with --herd or --machines.
class DemoTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Demo

  slow_test "it starts, says where it is and who may sign in, and keeps sessions over a start of another release" do
    cookie = nil
    during_demo("--release", "of today") do |address, said|
      assert_match(/Sign in as demo with the password hungry-for-more/, said)
      page = get(address, "/welcome/index")
      assert_equal ["200", "Release of today"], [page.code, page.body[/Release .*?(?=<)/]]
      cookie = sign_in(address)
      assert_includes said, "#{address}/larder\n"
      assert_includes get(address, "/larder").body, "<h1>Overview"
      assert_match(/^larder_up 1$/, get(address, "/metrics").body)
    end
    assert_empty Dir.children(path_of("storage/pids"))

    during_demo("--release", "of tomorrow") do |address, _|
      page = get(address, "/account", cookie)
      assert_equal ["Signed in as demo", "Release of tomorrow"],
                   page.body.scan(/Signed in as \w+|Release .*?(?=<)/)
    end
  end

  slow_test "workers of Puma record their cache in one file, all calls of it, without names of pages" do
    recorder = File.join(RecipesFiles::ROOT, "lab/traces/recorder.rb")
    variables.update("TRACE" => path_of("cache.trace"), "RECIPES_REQUIRE" => recorder)
    during_demo(*own_port) { |address, _| 40.times { get(address, "/rezept/index") } }
    text = File.open(path_of("cache.trace"), "rb") { |file| Zlib::GzipReader.zcat(file) }
    calls = text.lines.map { |line| line.split("\t") }.group_by(&:first)
    assert_equal [40, 1], calls.values_at("r", "g").map(&:size)
    assert_includes 40..42, calls["q"].size # the first request of a process has two events
    assert_equal 1, calls["r"].map { |fields| fields[4] }.uniq.size
    assert_equal %w[page], calls["s"].map { |fields| fields.last.chomp }.uniq
    assert_no_match(/rezept|index/, text)
  end

  slow_test "--herd shows that a query runs often without the options and once with them, and leaves nothing" do
    Dir.mkdir(path_of("temporary"))
    output, status = Open3.capture2e(variables.merge("TMPDIR" => path_of("temporary")), RbConfig.ruby, demo, "--herd",
                                     pgroup: true)
    assert_predicate status, :success?, output
    rows = output.scan(/^  (no option|\w+: .*?)  +(once|\d+ times)  +\d+ ms +\d+ ms$/)
    assert_equal ["no option", "single_flight: true", "no option", "stale_while_revalidate: 1.minute"],
                 rows.map(&:first), output
    without, with = rows.map(&:last).partition.with_index { |_, row| row.even? }
    assert_equal %w[once once], with, output
    without.each { |runs| assert_operator runs.to_i, :>, 1, output }
    assert_nothing_left(status.pid)
  end

  slow_test "--machines shows a change, a killed Redis and a delete that is not forgotten, and leaves nothing" do
    Dir.mkdir(path_of("temporary"))
    output, status = Open3.capture2e(variables.merge("TMPDIR" => path_of("temporary")), RbConfig.ruby, demo,
                                     "--machines", "3", pgroup: true)
    assert_predicate status, :success?, output
    { /^machine 1 writes 10: all read it +10 +10 +10$/ => 1, /^machine 1 writes 12.* 12 +12 \([\d.]+ ms\) +12 \(/ => 1,
      /^Redis is killed: all read +12 +12 +12$/ => 1, /^machine 2 deletes it: all read +12 +nothing +12$/ => 1,
      /^Redis is back.*(nothing \([\d.]+ s\) *){3}$/ => 1, /^.* takes( +[\d.]+ µs){3}$/ => 2 }.each do |row, times|
      assert_equal times, output.scan(row).size, output
    end
    assert_nothing_left(status.pid)
  end

  slow_test "--herd that is ended early leaves nothing" do
    Dir.mkdir(path_of("temporary"))
    reader, writer = IO.pipe
    pid = Process.spawn(variables.merge("TMPDIR" => path_of("temporary")), RbConfig.ruby, demo, "--herd",
                        %i[out err] => writer, pgroup: true)
    writer.close
    Timeout.timeout(LONGEST) { sleep(0.01) until Dir.glob(path_of("temporary/*/*/socket")).size == 2 }
    Process.kill(:TERM, pid)
    assert_match(/stopped by SIGTERM/, reader.read)
    assert_equal 128 + Signal.list["TERM"], wait_for(pid).exitstatus
    assert_nothing_left(pid)
    pid = nil
  ensure
    end_group(pid) if pid
    reader&.close
  end

  test "a port that is taken is refused by name, and left alone where any will do" do
    taken = TCPServer.new("127.0.0.1", 0)
    output, status = Open3.capture2e(variables, RbConfig.ruby, demo, "--port", taken.addr[1].to_s)
    assert_not_predicate status, :success?
    assert_match(/port #{taken.addr[1]} is in use/, output)
  ensure
    taken&.close
  end

  private

  # A worker of Puma that has lost its parent ends by itself.
  def assert_nothing_left(group)
    assert_empty Dir.children(path_of("temporary"))
    assert_raises(Errno::ESRCH, "a process still runs") do
      Timeout.timeout(LONGEST) { sleep(0.01) while Process.kill(0, -group) }
    end
  end

  def sign_in(address)
    form = get(address, "/session/new")
    token = CGI.unescapeHTML(form.body[/name="authenticity_token" value="(.*?)"/, 1])
    answer = request(address, Net::HTTP::Post.new("/session"), cookie_of(form)) do |post|
      post.set_form_data("authenticity_token" => token, "name" => "demo", "password" => "hungry-for-more")
    end
    assert_equal ["303", "#{address}/account"], [answer.code, answer["location"]]
    cookie_of(answer)
  end

  def get(address, path, cookie = nil)
    request(address, Net::HTTP::Get.new(path), cookie)
  end

  def request(address, request, cookie)
    uri = URI(address)
    request["Cookie"] = cookie if cookie
    yield request if block_given?
    Net::HTTP.start(uri.host, uri.port, open_timeout: 10, read_timeout: 30) { |http| http.request(request) }
  end

  def cookie_of(answer)
    answer["set-cookie"][/\A[^;]+/]
  end
end
