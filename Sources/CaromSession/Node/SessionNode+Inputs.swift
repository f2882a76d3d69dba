import CaromCore
import CaromProtocol

// A fail-safe: a peer that controls something that moves must not fall silent unnoticed.
extension SessionNode {
  /// Reports `inputStopped` once when a peer that has sent on `channel` then sends nothing there
  /// for `limit` or disconnects, and `inputResumed` when messages arrive again. A nil `limit`
  /// stops watching.
  public func watchInput(channel: UInt8, limit: Duration?) {
    inputs.watch(channel, limit: limit)
    rearm()
  }

  func recordInput(_ connection: ConnectionID, _ channel: UInt8) {
    guard inputs.channels.contains(channel) else { return }
    if inputs.recordMessage(of: connection, on: channel, at: loop.now) {
      emit(.inputResumed(connection, channel: channel))
    }
  }

  func emitStoppedInputs(at now: Instant) {
    guard !inputs.channels.isEmpty else { return }
    for input in inputs.takeStopped(at: now) {
      emit(.inputStopped(input.connection, channel: input.channel))
    }
  }
}
