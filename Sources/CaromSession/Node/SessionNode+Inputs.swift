import CaromCore
import CaromProtocol

// A fail-safe: who steers something that moves must not fall silent unnoticed.
extension SessionNode {
  /// Tells `inputStopped` once when a peer that has sent on `channel` has sent nothing there for
  /// `limit`, or is gone, and `inputResumed` when it goes on. `nil` ends that.
  public func watchInput(channel: UInt8, limit: Duration?) {
    inputs.watch(channel, limit: limit)
    rearm()
  }

  func noteInput(_ link: ConnectionID, _ channel: UInt8) {
    guard inputs.channels.contains(channel) else { return }
    if inputs.heard(link, channel, at: loop.now) { tell(.inputResumed(link, channel: channel)) }
  }

  func tellStoppedInputs(at now: Instant) {
    guard !inputs.channels.isEmpty else { return }
    for input in inputs.stopped(at: now) {
      tell(.inputStopped(input.link, channel: input.channel))
    }
  }
}
