import CaromCore
import CaromProtocol
import CaromTesting
import Testing

@Suite struct ChannelSetTests {
  #if DEBUG
    static let seeds = 8
  #else
    static let seeds = 1000
  #endif

  @Test func `every delivery meets its guarantee over a lossy path`() throws {
    try Seeds(Self.seeds).check { seed in
      var run = ChannelRun(
        seed: seed, Carrier.Conditions(redundancy: Double(seed % 4)), lengths: 4...400)
      try run.send(steps: 100)
      try run.finish()
    }
  }

  @Test func `fragmented messages keep the promise of their delivery over a lossy path`() throws {
    try Seeds(max(4, Self.seeds / 10)).check { seed in
      var run = ChannelRun(
        seed: seed, Carrier.Conditions(redundancy: Double(seed % 4), sizes: 600...1472),
        lengths: 4...20_000)
      try run.send(steps: 25)
      try run.finish()
    }
  }

  @Test func `a change of path neither loses nor duplicates messages`() throws {
    try Seeds(max(4, Self.seeds / 10)).check { seed in
      var run = ChannelRun(
        seed: seed, Carrier.Conditions(sizes: 600...9000, pathChange: 0.1), lengths: 4...9000)
      try run.send(steps: 30)
      try run.finish()
    }
  }
}

/// Sends messages of all deliveries in both directions and checks their arrival.
struct ChannelRun {
  struct Fault: Error {
    let what: String
  }

  static let channels: [UInt8] = [0, 1, 20, 64]
  var carrier: Carrier
  let lengths: ClosedRange<Int>
  private var sent = [[Int]](repeating: [], count: 2 * 65 * 5)
  private var arrived = [[Int]](repeating: [], count: 2 * 65 * 5)
  private var count = 0

  init(seed: UInt64, _ conditions: Carrier.Conditions, lengths: ClosedRange<Int>) {
    carrier = Carrier(seed: seed, conditions)
    self.lengths = lengths
  }

  private static func key(_ side: Int, _ channel: UInt8, _ delivery: Delivery) -> Int {
    (side * 65 + Int(channel)) * 5 + Int(delivery.rawValue)
  }

  mutating func send(steps: Int) throws {
    for _ in 0..<steps {
      for side in 0..<2 {
        for _ in 0..<Int.random(in: 0...3, using: &carrier.generator) { sendOne(side) }
      }
      try carrier.advance()
      try collect()
    }
  }

  private mutating func sendOne(_ side: Int) {
    let channel = Self.channels.randomElement(using: &carrier.generator) ?? 0
    let delivery = Delivery.allCases.randomElement(using: &carrier.generator) ?? .unreliable
    var length = Int.random(in: lengths, using: &carrier.generator)
    if carrier.generator.chance(0.5) { length = min(length, 100) }
    let bytes = makeMessage(count, length: length)
    let taken = try? carrier.sides[side].send(
      bytes.span, on: channel, SendOptions(delivery), at: carrier.now)
    guard taken != nil else { return }
    sent[Self.key(side, channel, delivery)].append(count)
    count += 1
  }

  private mutating func collect() throws {
    for side in 0..<2 {
      var damaged = false
      var got: [(Int, Int)] = []
      while carrier.sides[side].pollMessage({ channel, delivery, bytes in
        if let number = readMessage(bytes) {
          got.append((Self.key(1 - side, channel, delivery), number))
        } else {
          damaged = true
        }
      }) {}
      while let bytes = carrier.sides[side].pollSessionMessage() {
        guard let number = readMessage(bytes.span) else { throw Fault(what: "damaged") }
        guard
          let delivery = Delivery.allCases.first(where: {
            sent[Self.key(1 - side, 64, $0)].contains(number)
          })
        else { throw Fault(what: "never sent") }
        got.append((Self.key(1 - side, 64, delivery), number))
      }
      if damaged { throw Fault(what: "damaged") }
      for (key, number) in got { arrived[key].append(number) }
    }
  }

  /// Goes on until everything reliable has arrived, then checks every mode's promise.
  mutating func finish() throws {
    var rest = 4000
    while rest > 0, !(carrier.sides[0].isDrained && carrier.sides[1].isDrained) {
      try carrier.advance()
      try collect()
      rest -= 1
    }
    guard rest > 0 else { throw Fault(what: "never drained") }
    for side in 0..<2 {
      for channel in Self.channels {
        for delivery in Delivery.allCases { try check(Self.key(side, channel, delivery), delivery) }
      }
    }
  }

  private func check(_ key: Int, _ delivery: Delivery) throws {
    let (sent, arrived) = (sent[key], arrived[key])
    switch delivery {
    case .unreliable:
      guard Set(arrived).isSubset(of: sent) else { throw Fault(what: "never sent") }
    case .unreliableSequenced, .reliableSequenced:
      guard zip(arrived, arrived.dropFirst()).allSatisfy({ $0 < $1 }) else {
        throw Fault(what: "sequenced went back: \(arrived)")
      }
      if delivery.isReliable, sent.last != arrived.last {
        throw Fault(what: "the newest is missing")
      }
    case .reliableOrdered:
      guard arrived == sent else { throw Fault(what: "ordered: \(arrived) of \(sent)") }
    case .reliableUnordered:
      guard arrived.sorted() == sent else { throw Fault(what: "unordered: not each once") }
    }
  }
}
