import CaromCore
import CaromSimulation
import FuzzSupport

/// Sends random snapshots to a receiver that has decoded a few valid ones. Checks that decoded
/// values are within the schema's bounds and that the sender accepts any acknowledgement.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = fuzzInput(data, count)
  guard let first = input.first else { return 0 }
  var (sender, receiver) = begun[Int(first & 7)]
  // Each snapshot follows a byte with its length.
  var rest = input.dropFirst()
  while let length = rest.popFirst() {
    let bytes = Array(rest.prefix(Int(length)))
    rest = rest.dropFirst(Int(length))
    _ = try? receiver.receive(bytes.span)
    check(receiver)
  }
  var reader = PacketReader(input.span)
  if let acknowledgement = try? SnapshotAcknowledgement(decoding: &reader, sent: Tick(500)) {
    sender.acknowledge(acknowledgement)
  }
  sender.acknowledge(receiver.acknowledgement)
  _ = sender.encode(table(600), at: Tick(600))
  return 0
}

private let schema = EntitySchema(
  .position(-50...50, step: 0.01), .position(-50...50, step: 0.01), .angle(bits: 8),
  .integer(-3...100), .flag)

private func table(_ tick: Int64) -> EntityTable {
  var table = EntityTable(schema: schema)
  for id in 0..<UInt32(6) where (tick / 5 + Int64(id)) % 7 != 0 {
    table.append(
      id * 3, [tick * 3, -tick, tick * Int64(id) & 255, tick / 10, tick & 1])
  }
  return table
}

/// Senders and receivers that have exchanged some snapshots and different acknowledgements. They
/// are values, so each input starts from a copy.
private let begun = (0...7).map { makePair(acknowledging: $0) }

/// Returns a sender and a receiver after 20 snapshots. Of each eight ticks, the receiver
/// acknowledges the first `limit` and the last.
private func makePair(acknowledging limit: Int) -> (SnapshotSender, SnapshotReceiver) {
  var sender = SnapshotSender(schema: schema)
  var receiver = SnapshotReceiver(schema: schema, memberLimit: 64)
  for tick in Int64(1)...20 {
    let bytes = sender.encode(table(tick), at: Tick(UInt64(tick)))
    _ = try? receiver.receive(bytes.span)
    if tick % 8 <= limit { sender.acknowledge(receiver.acknowledgement) }
  }
  return (sender, receiver)
}

private func check(_ receiver: SnapshotReceiver) {
  precondition(receiver.entities.count <= 64 + 64, "the receiver must respect its entity limit")
  precondition(receiver.entities.count == receiver.entityTicks.count)
  for index in 0..<receiver.entities.count {
    for (number, field) in schema.fields.enumerated() {
      let value = receiver.entities.value(number, at: index)
      precondition(value >= field.lowerBound && value <= field.upperBound, "within bounds")
    }
  }
}
