import CaromCore
import CaromGroup

/// Two `ByteStreams` machines and the two channels between them. The channels deliver in order, but
/// either may overtake the other by any number of messages.
struct StreamLink {
  struct Side {
    var machine = ByteStreams()
    var control = Deque<[UInt8]>()
    var data = Deque<[UInt8]>()
    var events: [StreamEvent] = []
  }

  var sides = [Side(), Side()]
  var generator: SeededGenerator

  init(seed: UInt64 = 1) { generator = SeededGenerator(seed: seed) }

  /// Delivers messages in a random interleaving until nothing happens any more, or `limit` messages
  /// were delivered.
  mutating func run(limit: Int = .max) throws {
    for _ in 0..<limit {
      for side in 0...1 { drain(side) }
      let ready = (0...1).flatMap { side in
        (sides[side].control.isEmpty ? [] : [(side, true)])
          + (sides[side].data.isEmpty ? [] : [(side, false)])
      }
      guard let (side, isControl) = ready.randomElement(using: &generator) else { return }
      if isControl {
        guard let message = sides[side].control.popFirst() else { return }
        try sides[1 - side].machine.handleControl(message.span)
      } else {
        guard let message = sides[side].data.popFirst() else { return }
        try sides[1 - side].machine.handleData(message.span)
        sides[side].machine.didDeliver(message.count)
      }
    }
  }

  private mutating func drain(_ side: Int) {
    while let event = sides[side].machine.pollEvent() { sides[side].events.append(event) }
    while let message = sides[side].machine.pollTransmit() {
      switch message {
      case .control(let bytes): sides[side].control.append(bytes)
      case .data(let bytes): sides[side].data.append(bytes)
      }
    }
  }

  /// Removes and returns the events of one side.
  mutating func takeEvents(_ side: Int) -> [StreamEvent] {
    defer { sides[side].events = [] }
    return sides[side].events
  }

  /// Opens a stream and returns its ids on both sides.
  mutating func open(from side: Int = 0, _ name: String = "s") throws -> [StreamID] {
    let id = try sides[side].machine.open(name)
    let other = StreamID(isOutgoing: false, number: id.number)
    return side == 0 ? [id, other] : [other, id]
  }

  /// Writes all bytes on one side, and reads on the other whenever the link is idle, unless
  /// `isRead` is false. Returns what was read.
  mutating func transfer(
    _ bytes: [UInt8], _ ids: [StreamID], from side: Int = 0, isRead: Bool = true
  ) throws -> [UInt8] {
    var (written, result) = (0, [UInt8]())
    while true {
      written += try sides[side].machine.write(
        bytes.span.extracting(written..<bytes.count), to: ids[side])
      try run()
      let part = isRead ? try read(ids[1 - side], 1 - side) : []
      result += part ?? []
      try run()
      if written == bytes.count, part?.isEmpty != false { return result }
      if !isRead, written >= CreditWindow.initialSize + StreamLimits.queuedBytes { return [] }
    }
  }

  mutating func read(_ id: StreamID, _ side: Int, _ count: Int = 100_000) throws -> [UInt8]? {
    try sides[side].machine.read(count, from: id, at: .zero)
  }
}
