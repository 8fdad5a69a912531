# frozen_string_literal: true

require "test_helper"
require "digest"
require "socket"

module Security
  # Another user who may write to the cache's directory can make it forget, and can keep it from opening. He can not
  # make it lie, crash or hang, nor have it write to a file of his choice. Root only: it takes two users.
  class CoTenantTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes

    VICTIM = 12_345
    ATTACKER = 65_534
    SIZE = 1 << 20
    KEYS = 50
    SECONDS = Float(ENV.fetch("LARDER_SECURITY_SECONDS", "3"))

    # What the victim did and met.
    Story = Struct.new(:opened, :refused, :found, :missed, :wrong, :errors)

    setup do
      skip "it takes root to be two users" unless Process.uid.zero?
      skip "it takes Linux" unless RUBY_PLATFORM.include?("linux")
      File.chmod(0o755, directory)
      @shared = path_of("shared")
      FileUtils.mkdir(@shared)
      @precious = path_of("precious")
      File.write(@precious, "the victim's own")
      File.chown(VICTIM, VICTIM, @precious)
    end

    test "whoever may write to the directory can deny and make forget, and nothing else" do
      File.chmod(0o777, @shared)
      changes, story = attack
      report(changes, story)
      assert_sound(story)
      assert_operator changes, :>, 20
      assert_operator story.refused, :>, 0, "the attack was none"
      assert_operator story.found, :>, 0, "the victim never got to work"
      heals
    end

    test "in a sticky directory, as /tmp, another user can not even make it forget" do
      File.chmod(0o1777, @shared)
      as(VICTIM) { Larder::Cache.open(path, size: SIZE) { |cache| cache.set("kept", "kept") } }
      changes, story = attack
      assert_sound(story)
      assert_operator changes, :>, 20
      assert_equal 0, story.refused, story.errors.inspect
      assert_equal "kept", as(VICTIM) { Larder::Cache.open(path, size: SIZE) { |cache| cache.get("kept") } }
    end

    test "a file of another user is refused, whatever is in it" do
      File.chmod(0o777, @shared)
      as(ATTACKER) { Larder::Cache.open(path, size: SIZE) { |cache| cache.set("key 1", "forged") } }
      error = assert_raises(Larder::OpenError) { as_raising(VICTIM) { Larder::Cache.open(path, size: SIZE) } }
      assert_match(/belongs to another user|Permission denied/, error.message)
    end

    private

    def path
      File.join(@shared, "cache.larder")
    end

    # Both at once, for as long as told. @return [Array(Integer, Story)]
    def attack
      ends = Time.now + SECONDS
      forgery = path_of("forgery")
      attacker = Thread.new { as(ATTACKER) { Attacker.new(@shared, @precious, forgery).work_until(ends) } }
      story = as(VICTIM) { Victim.new(path).work_until(ends) }
      [attacker.value, Story.new(*story)]
    end

    def assert_sound(story)
      assert_equal [], story.wrong
      assert_equal "the victim's own", File.read(@precious)
      assert_equal VICTIM, File.stat(@precious).uid
      assert_equal [], Dir.children(directory) - %w[shared precious forgery]
    end

    # With the attacker's leavings removed all is well again.
    def heals
      FileUtils.rm_rf(Dir.glob(File.join(@shared, "*")))
      assert_equal "well", as(VICTIM) {
        Larder::Cache.open(path, size: SIZE) do |cache|
          cache.set("again", "well")
          cache.get("again")
        end
      }
    end

    def report(changes, story)
      puts "", "@ #{changes} changes to the cache's directory by another user",
           "@ #{story.opened} times opened meanwhile", "@ #{story.refused} times refused with an error that says why",
           "@ #{story.found} values found meanwhile, each one right"
    end

    def as(user)
      in_child do
        drop_to(user)
        yield
      end
    end

    def as_raising(user)
      error = as(user) do
        yield
        nil
      rescue Larder::Error => e
        [e.class.name, e.message]
      end
      raise Object.const_get(error[0]), error[1] if error
    end

    def drop_to(user)
      Process.groups = []
      Process::Sys.setgid(user)
      Process::Sys.setuid(user)
    end

    # Opens, stores, reads and closes, and believes nothing.
    class Victim
      def initialize(path)
        @path = path
        @random = Random.new(1)
        @opened = @refused = @found = @missed = 0
        @wrong = []
        @errors = Hash.new(0)
      end

      def work_until(time)
        use while Time.now < time
        [@opened, @refused, @found, @missed, @wrong, @errors]
      end

      private

      def use
        Larder::Cache.open(@path, size: SIZE) do |cache|
          @opened += 1
          @random.rand(1..40).times { one_call(cache) }
        end
      rescue Larder::OpenError => e
        @refused += 1
        @errors[e.message[/: (.*)/, 1]] += 1
        @wrong << "an error without the path: #{e.message}" unless e.message.include?(File.dirname(@path))
      rescue Larder::DamagedError => e # the file he had is gone, and the one that is there is not his
        @refused += 1
        @errors[e.class.name] += 1
      end

      def one_call(cache)
        key = "key #{@random.rand(KEYS)}"
        return cache.set(key, value_of(key)) if @random.rand < 0.5

        value = cache.get(key)
        value.nil? ? @missed += 1 : judge(key, value)
        cache.delete(key) if @random.rand < 0.1
      end

      def judge(key, value)
        value == value_of(key) ? @found += 1 : @wrong << "#{key}: #{value[0, 80].inspect}"
      end

      def value_of(key)
        "#{key} #{Digest::SHA256.hexdigest("victim's #{key}")}"
      end
    end

    # Puts everything he can think of in the place of the cache and of its lock file.
    class Attacker
      def initialize(directory, precious, forgery)
        @paths = [File.join(directory, "cache.larder"), File.join(directory, "cache.larder.lock")]
        @directory = directory
        @precious = precious
        @forgery = forgery
        @random = Random.new(2)
        @changes = 0
      end

      def work_until(time)
        prepare
        while Time.now < time
          change(@paths.sample(random: @random))
          sleep(@random.rand * 0.004)
          make_way if @random.rand < 0.5
        end
        @changes
      end

      TRICKS = %i[remove swap put_aside garbage zeros symlink dangling_link hard_link directory pipe socket forge
                  forge_both cut].freeze

      private

      # A whole cache of the attacker's own, with values for the victim's keys.
      def prepare
        @forgery = File.join(@directory, "forged.larder")
        Larder::Cache.open(@forgery, size: SIZE) { |cache| KEYS.times { |i| cache.set("key #{i}", "forged") } }
      end

      def change(path)
        send(TRICKS.sample(random: @random), path)
        @changes += 1
      rescue SystemCallError
        @changes += 1 # he may not do that: so much the better
      end

      # So that the victim comes in again.
      def make_way
        @paths.each { |path| clear(path) }
        sleep(@random.rand * 0.008)
      rescue SystemCallError
        @changes += 1
      end

      def remove(path)
        File.directory?(path) ? Dir.rmdir(path) : File.unlink(path)
      end

      def clear(path)
        remove(path)
      rescue Errno::ENOENT
        nil
      end

      def swap(_path)
        File.rename(@paths[0], "#{@paths[0]}.aside")
        File.rename(@paths[1], @paths[0])
        File.rename("#{@paths[0]}.aside", @paths[1])
      end

      def put_aside(path)
        aside = "#{path}.kept"
        File.exist?(aside) ? File.rename(aside, path) : File.rename(path, aside)
      end

      def garbage(path)
        clear(path)
        File.binwrite(path, @random.bytes(20_000))
      end

      def zeros(path)
        clear(path)
        File.binwrite(path, "\0" * 100_000)
      end

      def symlink(path)
        clear(path)
        File.symlink(@precious, path)
      end

      def dangling_link(path)
        clear(path)
        File.symlink(File.join(File.dirname(@precious), "made-by-the-victim"), path)
      end

      def hard_link(path)
        clear(path)
        File.link(@precious, path)
      end

      def directory(path)
        clear(path)
        Dir.mkdir(path)
      end

      def pipe(path)
        clear(path)
        File.mkfifo(path, 0o666)
      end

      def socket(path)
        clear(path)
        UNIXServer.new(path).close
      end

      def forge(path)
        clear(path)
        File.binwrite(path, File.binread(path == @paths[0] ? @forgery : "#{@forgery}.lock"))
        File.chmod(0o666, path)
      end

      def forge_both(_path)
        @paths.each { |path| forge(path) }
      end

      def cut(path)
        File.truncate(path, @random.rand(SIZE))
      end
    end
  end
end
