# frozen_string_literal: true

# A file system of its own, on a loop device, that can stand still for a while.
module FrozenDisk
  # Seconds after which it goes on in any case: what waits for such a disk cannot be interrupted.
  LIMIT = 15

  # @yieldparam disk [String] a directory
  def on_disk_of_its_own
    image = File.join(directory, "image")
    disk = File.join(directory, "disk").tap { |path| Dir.mkdir(path) }
    File.write(image, "")
    File.truncate(image, 16 << 20)
    made = Process.euid.zero? && system("mkfs.ext4", "-q", image, err: File::NULL) &&
           system("mount", "-o", "loop", image, disk, err: File::NULL)
    skip "needs root, mkfs.ext4 and loop devices" unless made

    begin
      yield disk
    ensure
      system("umount", "--lazy", disk)
    end
  end

  # @param disk [String] what was yielded
  def frozen(disk)
    assert system("fsfreeze", "--freeze", disk)
    limit = spawn("sleep #{LIMIT}; fsfreeze --unfreeze #{disk}", err: File::NULL)
    yield
  ensure
    system("fsfreeze", "--unfreeze", disk, err: File::NULL)
    Process.kill(:KILL, limit)
    Process.wait(limit)
  end
end
