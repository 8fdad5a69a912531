# frozen_string_literal: true

# Exceptions of another thread, as of Timeout, at chosen places of a call.
module Interruptions
  # Raised by another thread.
  class Late < RuntimeError; end

  # Interrupts the block at one of the places where Ruby looks for exceptions of other threads.
  #
  # @param place [Integer] from 1 on
  # @param path [String] part of the paths of the files whose places count
  # @return [Boolean] has the block such a place?
  def interrupted_at(place, path)
    returns = 0
    trace = TracePoint.new(:return, :b_return) do |point|
      raise_from_another_thread if point.path.include?(path) && (returns += 1) == place
    end
    trace.enable(target_thread: Thread.current) { yield }
    returns >= place
  rescue Late
    true
  end

  def raise_from_another_thread
    thread = Thread.current
    Thread.new { thread.raise(Late) }.join
  end
end
