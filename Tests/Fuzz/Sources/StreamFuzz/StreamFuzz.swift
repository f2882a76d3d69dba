import CaromCore
import CaromGroup
import FuzzSupport

/// Runs the input as a script: what a peer sends on the two channels of byte streams, and what the
/// owner of the machine does in between. The machine must neither trap nor store more than the
/// credit of the streams allows.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var owner = StreamOwner()
  var script = FuzzScript(fuzzInput(data, count))
  while !script.isAtEnd, (try? owner.step(&script)) != nil { owner.drain() }
  owner.machine.disconnect()
  owner.drain()
  return 0
}

/// A machine and an owner that does what a script says.
struct StreamOwner {
  var machine = ByteStreams()
  private var ids: [StreamID] = []
  private var delivered = Deque<Int>()

  mutating func step(_ script: inout FuzzScript) throws {
    switch script.next() % 10 {
    case 0, 1: try machine.handleControl(script.read(Int(script.next() % 24)).span)
    case 2, 3, 4:
      var message = script.read(Int(script.next() % 24))
      message += [UInt8](repeating: 1, count: Int(script.next()) * 130)
      try machine.handleData(message.span)
    case 5: if let id = try? machine.open("s") { ids.append(id) }
    case 6:
      guard let id = choose(script.next()) else { return }
      let bytes = [UInt8](repeating: 2, count: Int(script.next()) * 300)
      _ = try? machine.write(bytes.span, to: id)
    case 7:
      guard let id = choose(script.next()) else { return }
      let count = Int(script.next()) * 300
      let bytes = try? machine.read(count, from: id, at: .zero)
      precondition((bytes?.count ?? 0) <= count)
    case 8:
      guard let id = choose(script.next()) else { return }
      if script.next() & 1 == 0 { machine.finish(id) } else { machine.reset(id) }
    default:
      if let length = delivered.popFirst() { machine.didDeliver(length) }
    }
  }

  private func choose(_ choice: UInt8) -> StreamID? {
    ids.isEmpty ? nil : ids[Int(choice) % ids.count]
  }

  mutating func drain() {
    while let event = machine.pollEvent() {
      if case .opened(let id, _) = event { ids.append(id) }
    }
    while let message = machine.pollTransmit() {
      if case .data(let bytes) = message { delivered.append(bytes.count) }
    }
    let unacknowledged = delivered.reduce(0, +)
    precondition(unacknowledged <= StreamLimits.unacknowledgedBytes + (33 << 10))
  }
}
