import CaromCore
import CaromProtocol

/// Notices when a peer's input stops, and when it goes on: the fail-safe of whatever moves.
struct InputWatchdog: Sendable {
  private struct Guard: Sendable {
    let channel: UInt8
    var limit: Duration
  }

  private struct Input: Sendable {
    let link: ConnectionID
    let channel: UInt8
    var heardAt: Instant
    var isStopped = false
  }

  private var guards: [Guard] = []
  private var inputs: [Input] = []
  private(set) var channels = ChannelMask()

  /// Watches a channel; `nil` does not watch it any more.
  mutating func watch(_ channel: UInt8, limit: Duration?) {
    guards.removeAll { $0.channel == channel }
    guard let limit else {
      channels.remove(channel)
      inputs.removeAll { $0.channel == channel }
      return
    }
    precondition(limit > .zero, "an input may be silent for a while")
    guards.append(Guard(channel: channel, limit: limit))
    channels.insert(channel)
  }

  /// A message came; whether the input goes on after it had stopped.
  mutating func heard(_ link: ConnectionID, _ channel: UInt8, at now: Instant) -> Bool {
    let known = inputs.firstIndex { $0.link == link && $0.channel == channel }
    guard let index = known else {
      inputs.append(Input(link: link, channel: channel, heardAt: now))
      return false
    }
    inputs[index].heardAt = now
    defer { inputs[index].isStopped = false }
    return inputs[index].isStopped
  }

  /// The inputs that have stopped since the last time.
  mutating func stopped(at now: Instant) -> [(link: ConnectionID, channel: UInt8)] {
    var stopped: [(ConnectionID, UInt8)] = []
    for index in inputs.indices where !inputs[index].isStopped {
      guard now >= deadline(of: inputs[index]) else { continue }
      inputs[index].isStopped = true
      stopped.append((inputs[index].link, inputs[index].channel))
    }
    return stopped
  }

  /// The peer is gone: the channels whose input stops with it.
  mutating func forget(_ link: ConnectionID) -> [UInt8] {
    defer { inputs.removeAll { $0.link == link } }
    return inputs.filter { $0.link == link && !$0.isStopped }.map(\.channel)
  }

  var nextTimeout: Instant? {
    inputs.reduce(nil) { $1.isStopped ? $0 : earliest($0, deadline(of: $1)) }
  }

  private func deadline(of input: Input) -> Instant {
    let limit = guards.first { $0.channel == input.channel }?.limit ?? .zero
    return input.heardAt.advanced(by: limit)
  }
}
