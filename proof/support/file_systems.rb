# frozen_string_literal: true

# File systems to run programs on: made in files or memory, mounted where only the program sees them. Needs root.

require_relative "../../rakelib/house/environment"

module Proof
  # Words to put before a program, so that its TMPDIR is on a file system of a kind.
  module FileSystems
    # name => lines of sh: what mounts it under $D, and where programs are to go ($AT)
    MOUNTS = {
      "tmpfs" => "mount -t tmpfs -o size=700m none $D; AT=$D",
      "overlay" => "mount -t tmpfs -o size=700m none $D; mkdir $D/lower $D/upper $D/work $D/at; " \
                   "mount -t overlay overlay -o lowerdir=$D/lower,upperdir=$D/upper,workdir=$D/work $D/at; AT=$D/at",
      "ext4" => "truncate -s 700M $D.image; mkfs.ext4 -q $D.image; mount -o loop $D.image $D; rm $D.image; AT=$D",
      "xfs" => "truncate -s 700M $D.image; mkfs.xfs -q $D.image; mount -o loop $D.image $D; rm $D.image; AT=$D",
      "btrfs" => "truncate -s 700M $D.image; mkfs.btrfs -q $D.image >&2; mount -o loop $D.image $D; rm $D.image; AT=$D"
    }.freeze

    # name => the program that makes it, where that is not mount
    MAKERS = { "ext4" => "mkfs.ext4", "xfs" => "mkfs.xfs", "btrfs" => "mkfs.btrfs" }.freeze

    # The program is a child of the shell, which takes the directory away after it; the mounts go with the namespace.
    SCRIPT = <<~SH
      set -e
      D=$(mktemp -d "${TMPDIR:-/tmp}/larder-proof-XXXXXX")
      %<mount>s
      status=0
      TMPDIR=$AT "$@" || status=$?
      cd / && umount $AT && { umount $D 2>/dev/null || true; }
      rm -rf $D
      exit $status
    SH

    module_function

    # @param name [String]
    # @return [String, nil] why there is none here (nil: there is)
    def missing(name)
      return "only root can mount" unless Process.uid.zero?

      maker = MAKERS[name]
      "#{maker} is not installed" unless maker.nil? || House::Environment.program?(maker)
    end

    # @param name [String]
    # @param argv [Array<String>]
    # @return [Array<String>] the same on this file system
    def on(name, argv)
      ["unshare", "--mount", "sh", "-c", format(SCRIPT, mount: MOUNTS.fetch(name)), "sh", *argv]
    end
  end
end
