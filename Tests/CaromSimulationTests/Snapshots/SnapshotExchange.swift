import CaromCore

@testable import CaromSimulation

/// A sender and a receiver, connected by a line that delays, reorders, loses and duplicates
/// packets.
struct SnapshotExchange {
  struct Wrong: Error, CustomStringConvertible { let description: String }

  var sender: SnapshotSender
  var receiver: SnapshotReceiver
  private var generator: SeededGenerator
  private let loss: Double
  private var down: [(due: Int, tick: Tick, bytes: [UInt8])] = []
  private var up: [(due: Int, bytes: [UInt8])] = []
  private var sent: [Tick: EntityTable] = [:]
  private var now = 0
  /// The number of snapshots that arrived as the newest one.
  private(set) var taken = 0
  private(set) var missed = 0

  init(schema: EntitySchema, loss: Double, seed: UInt64) {
    sender = SnapshotSender(schema: schema)
    receiver = SnapshotReceiver(schema: schema)
    generator = SeededGenerator(seed: seed)
    self.loss = loss
  }

  /// Sends a snapshot, of the selected entities if there is a selection, and delivers the packets
  /// that are due.
  mutating func step(_ table: EntityTable, at tick: Tick, selecting selection: [Bool]? = nil) throws
  {
    now += 1
    sender.plan(table, at: tick, selecting: selection)
    sender.writePlanned()
    sender.commit()
    sent[tick] = selection == nil ? table : nil
    for _ in 0..<(generator.chance(0.05) ? 2 : 1) where !generator.chance(loss) {
      down.append((now + delay(), tick, sender.bytes))
    }
    try deliver()
    var writer = PacketWriter()
    receiver.acknowledgement.encode(into: &writer)
    if !generator.chance(loss) { up.append((now + delay(), writer.bytes)) }
    let due = up.filter { $0.due <= now }
    up.removeAll { $0.due <= now }
    for packet in due {
      var reader = PacketReader(packet.bytes.span)
      sender.acknowledge(try SnapshotAcknowledgement(decoding: &reader, sent: tick))
    }
  }

  private mutating func delay() -> Int { Int.random(in: 1...6, using: &generator) }

  private mutating func deliver() throws {
    let due = down.filter { $0.due <= now }
    down.removeAll { $0.due <= now }
    for packet in due {
      do throws(SnapshotError) {
        var probe = receiver
        let rewritten = try probe.rewrite(packet.bytes.span)
        guard rewritten == packet.bytes else { throw .malformed(.trailingBytes(0)) }
        guard try receiver.receive(packet.bytes.span) else { continue }
      } catch {
        switch error {
        case .malformed: throw Wrong(description: "\(packet.tick) is malformed")
        case .missingBase: missed += 1
        case .stale: break
        }
        continue
      }
      taken += 1
      guard receiver.tick == packet.tick else { throw Wrong(description: "another tick") }
      if let whole = sent[packet.tick], receiver.entities != whole {
        throw Wrong(description: "\(packet.tick) reads otherwise")
      }
    }
  }
}
