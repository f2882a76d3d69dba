import CaromCore
import CaromGroup
import FuzzSupport

/// Runs the input as a script: what a peer sends on the two channels of file transfers, and what
/// the owner of the machine does in between. The machine must neither trap nor let a file exceed
/// its credit.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var owner = TransferOwner()
  var script = FuzzScript(fuzzInput(data, count))
  while !script.isAtEnd, (try? owner.step(&script)) != nil { owner.drain() }
  owner.machine.disconnect()
  owner.drain()
  return 0
}

/// A machine and an owner that does what a script says.
struct TransferOwner {
  var machine = Transfers()
  private typealias Entry = (
    id: TransferID, offer: FileOffer, isAccepted: Bool, received: UInt64
  )
  private var incoming: [Entry] = []
  private var outgoing: [TransferID] = []
  private var delivered = Deque<Int>()

  mutating func step(_ script: inout FuzzScript) throws {
    switch script.next() % 10 {
    case 0, 1, 2:
      let message = script.read(Int(script.next()))
      try machine.handleControl(message.span)
    case 3, 4:
      var message = script.read(Int(script.next() % 8))
      message += [UInt8](repeating: 1, count: Int(script.next()) * 300)
      try machine.handleData(message.span)
    case 5:
      guard let name = FileName("f") else { return }
      let size = UInt64(script.next()) << UInt64(script.next() % 33)
      let offer = FileOffer(name, size: size, hash: [UInt8](repeating: 0, count: 32))
      if let id = try? machine.offer(offer) { outgoing.append(id) }
    case 6: acceptOne(script.next(), script.next())
    case 7: storeOne(script.next())
    case 8: cancelOne(script.next())
    default:
      if let length = delivered.popFirst() { machine.didDeliver(length) }
    }
  }

  private mutating func acceptOne(_ choice: UInt8, _ offset: UInt8) {
    guard !incoming.isEmpty else { return }
    let index = Int(choice) % incoming.count
    guard !incoming[index].isAccepted else { return }
    incoming[index].isAccepted = true
    incoming[index].received = min(UInt64(offset), incoming[index].offer.size)
    machine.accept(incoming[index].id, from: incoming[index].received)
  }

  private mutating func storeOne(_ choice: UInt8) {
    guard !incoming.isEmpty else { return }
    let index = Int(choice) % incoming.count
    let entry = incoming[index]
    guard entry.isAccepted else { return }
    machine.didStore(entry.id, upTo: entry.received, at: .zero)
    guard entry.received == entry.offer.size else { return }
    machine.complete(entry.id)
    incoming.remove(at: index)
  }

  private mutating func cancelOne(_ choice: UInt8) {
    if choice & 1 == 0, !outgoing.isEmpty {
      machine.cancel(outgoing.remove(at: Int(choice) % outgoing.count))
    } else if !incoming.isEmpty {
      machine.cancel(incoming.remove(at: Int(choice) % incoming.count).id)
    }
  }

  mutating func drain() {
    while let event = machine.pollEvent() { carryOut(event) }
    while let message = machine.pollTransmit() {
      if case .data(let bytes) = message { delivered.append(bytes.count) }
    }
    let unacknowledged = delivered.reduce(0, +)
    precondition(unacknowledged <= TransferLimits.unacknowledgedBytes + (65 << 10))
  }

  private mutating func carryOut(_ event: TransferEvent) {
    switch event {
    case .offered(let id, let offer): incoming.append((id, offer, false, 0))
    case .read(let id, _, let count):
      machine.provide([UInt8](repeating: 0, count: count), for: id)
    case .received(let id, let offset, let bytes):
      guard let index = incoming.firstIndex(where: { $0.id == id }) else {
        fatalError("bytes of an unknown file")
      }
      precondition(incoming[index].isAccepted && incoming[index].received == offset)
      incoming[index].received += UInt64(bytes.count)
      precondition(incoming[index].received <= incoming[index].offer.size)
    case .completed(let id): outgoing.removeAll { $0 == id }
    case .failed(let id, _):
      outgoing.removeAll { $0 == id }
      incoming.removeAll { $0.id == id }
    case .accepted, .stored: break
    }
  }
}
