import CaromCore
import CaromProtocol

/// Two channel sets and the packets between them. As one seed determines, packets are delayed,
/// reordered, duplicated and lost, and may be reported lost by mistake.
struct Carrier {
  struct Packet {
    var number: Int
    var bytes: [UInt8]
    var records: [FrameRecord]
    /// Whether the packet was reported to its sender as acknowledged or lost.
    var isReported = false
    var hasArrived = false
  }

  struct Conditions {
    var loss = 0.1
    var duplicates = 0.05
    /// The chance that a packet is reported lost although it has arrived or will.
    var spuriousLoss = 0.05
    var delay = 6
    var redundancy = 0.0
    /// The packet sizes, in bytes; each packet has a random one.
    var sizes = 1200...1200
    /// The chance that the path changes, which reports all outstanding packets lost.
    var pathChange = 0.0
  }

  enum Failure: Error { case violation(DecodeError) }

  var sides = [ChannelSet(), ChannelSet()]
  var conditions: Conditions
  var generator: SeededGenerator
  var now = Instant.zero
  private(set) var bytesCarried = 0
  private(set) var packetsCarried = 0
  private var flights: [[Packet]] = [[], []]
  private var due: [[(step: Int, index: Int)]] = [[], []]
  private var writer = FrameWriter(limit: 1200)
  private var step = 0
  private var counts = [0, 0]

  init(seed: UInt64, _ conditions: Conditions = Conditions()) {
    self.conditions = conditions
    generator = SeededGenerator(seed: seed)
  }

  /// Advances by one millisecond: each side fills up to `packets` packets, and some packets arrive
  /// or are reported.
  mutating func advance(packets: Int = 4) throws {
    step += 1
    now = now.advanced(byNanoseconds: 1_000_000)
    for side in 0..<2 {
      sides[side].handleTimeout(at: now)
      for _ in 0..<packets { try fill(side) }
    }
    for side in 0..<2 { try deliver(from: side) }
    for side in 0..<2 { report(side) }
    for side in 0..<2 { sides[side].growWindows(roundTrip: 20_000_000, at: now) }
  }

  private mutating func fill(_ side: Int) throws {
    guard sides[side].hasPending else { return }
    writer.begin(limit: Int.random(in: conditions.sizes, using: &generator))
    var records: [FrameRecord] = []
    sides[side].fill(
      &writer, records: &records, redundancy: conditions.redundancy,
      includeBulk: generator.chance(0.8), at: now)
    guard writer.count > 0 else { return }
    bytesCarried += writer.count
    packetsCarried += 1
    let packet = Packet(number: counts[side], bytes: writer.bytes, records: records)
    counts[side] += 1
    flights[side].append(packet)
    if !generator.chance(conditions.loss) { schedule(side, packet.number) }
    if generator.chance(conditions.duplicates) { schedule(side, packet.number) }
  }

  private mutating func schedule(_ side: Int, _ number: Int) {
    due[side].append((step + Int.random(in: 0...conditions.delay, using: &generator), number))
  }

  private mutating func deliver(from side: Int) throws {
    let arriving = due[side].filter { $0.step <= step }.map(\.index)
    due[side].removeAll { $0.step <= step }
    for number in arriving {
      guard let index = flights[side].firstIndex(where: { $0.number == number }) else { continue }
      flights[side][index].hasArrived = true
      try receive(flights[side][index].bytes, at: 1 - side)
    }
  }

  mutating func receive(_ bytes: [UInt8], at side: Int) throws {
    var ranges = AcknowledgedRanges()
    var reader = FrameReader(bytes.span)
    do {
      while let frame = try reader.next(ranges: &ranges) {
        switch frame {
        case .message(let message): try sides[side].receive(message)
        case .credit(let channel, let limit):
          sides[side].handleCredit(channel: channel, limit: limit)
        default: break
        }
      }
    } catch {
      throw Failure.violation(error)
    }
  }

  /// Reports packets to their sender, in any order. A packet that never arrives is eventually
  /// reported lost.
  private mutating func report(_ side: Int) {
    let isPathChange = generator.chance(conditions.pathChange)
    for index in flights[side].indices where !flights[side][index].isReported {
      let packet = flights[side][index]
      let isOld = packet.number + 60 < counts[side] || generator.chance(0.05)
      if isPathChange || generator.chance(conditions.spuriousLoss / 10) {
        for record in packet.records { sides[side].handleLost(record, at: now) }
      } else if packet.hasArrived, generator.chance(0.3) {
        for record in packet.records { sides[side].handleAcknowledged(record, at: now) }
      } else if !packet.hasArrived, isOld {
        for record in packet.records { sides[side].handleLost(record, at: now) }
      } else {
        continue
      }
      flights[side][index].isReported = true
    }
    flights[side].removeAll { packet in
      packet.isReported && packet.number + 200 < counts[side]
        && !due[side].contains { $0.index == packet.number }
    }
  }
}

/// A message whose bytes are determined by its number and length, so that damage is detected.
func makeMessage(_ number: Int, length: Int) -> [UInt8] {
  (0..<length).map { index in
    index < 4
      ? UInt8(truncatingIfNeeded: number >> (8 * index))
      : UInt8(truncatingIfNeeded: index &* 31 &+ number)
  }
}

/// The number of a message made by `makeMessage`; `nil` if it is damaged.
func readMessage(_ bytes: Span<UInt8>) -> Int? {
  guard bytes.count >= 4 else { return nil }
  let number = (0..<4).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) }
  for index in 4..<max(4, bytes.count)
  where bytes[index] != UInt8(truncatingIfNeeded: index &* 31 &+ number) { return nil }
  return number
}
