# frozen_string_literal: true

# Gives the files of a volume to a group, as the kubelet does for fsGroup when a pod starts (pkg/volume/volume_linux.go
# of Kubernetes). Needs root, or a group that this user is in.

require "find"

module Kubelet
  # Bits that are added to the mode of each file, and of each directory.
  FILE = 0o660
  DIRECTORY = 0o2770

  module_function

  # @param volume [String] the directory where it is mounted
  # @param group [Integer]
  # @param on_root_mismatch [Boolean] as fsGroupChangePolicy: false is Always, the default
  # @return [void]
  def start_pod(volume, group, on_root_mismatch: false)
    root = File.stat(volume)
    return if on_root_mismatch && root.gid == group && root.mode & DIRECTORY == DIRECTORY

    Find.find(volume) do |path|
      info = File.lstat(path)
      File.lchown(nil, group, path)
      File.chmod((info.mode & 0o7777) | (info.directory? ? DIRECTORY : FILE), path) unless info.symlink?
    end
  end
end
