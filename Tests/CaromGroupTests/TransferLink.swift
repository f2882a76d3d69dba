import CaromCore
import CaromGroup
import Testing

/// Two `Transfers` machines and the two channels between them. The channels deliver in order, but
/// either may overtake the other by any number of messages.
struct TransferLink {
  struct Side {
    var machine = Transfers()
    var control = Deque<[UInt8]>()
    var data = Deque<[UInt8]>()
    /// The events that the link has not carried out itself.
    var events: [TransferEvent] = []
    /// The files that the side sends, by the number of their transfer.
    var files: [UInt64: [UInt8]] = [:]
    /// What has arrived, by the number of the transfer.
    var stored: [UInt64: [UInt8]] = [:]
    /// The incoming transfers whose bytes are received and not stored.
    var stalled: Set<UInt64> = []
    /// The most bytes that were on the way at a time.
    var mostInFlight = 0
    /// The length of the longest message with bytes of a file.
    var longestPiece = 0
  }

  var sides = [Side(), Side()]
  var generator: SeededGenerator

  init(seed: UInt64 = 1) { generator = SeededGenerator(seed: seed) }

  /// Offers a file from one side and has the other accept it from `offset` on.
  mutating func send(
    _ file: [UInt8], from side: Int = 0, acceptedFrom offset: UInt64 = 0
  ) throws -> TransferID {
    let id = try offer(file, from: side)
    try run()
    let incoming = TransferID.incoming(id.number)
    sides[1 - side].stored[id.number] = Array(file[..<Int(offset)])
    sides[1 - side].machine.accept(incoming, from: offset)
    return id
  }

  mutating func offer(_ file: [UInt8], from side: Int = 0) throws -> TransferID {
    let name = try #require(FileName("file"))
    let offer = FileOffer(
      name, size: UInt64(file.count), hash: [UInt8](repeating: 7, count: FileOffer.hashLength))
    let id = try sides[side].machine.offer(offer)
    sides[side].files[id.number] = file
    return id
  }

  /// Delivers messages in a random interleaving until nothing happens any more.
  mutating func run() throws {
    while true {
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

  /// Carries out the events of one side and takes its messages.
  private mutating func drain(_ side: Int) {
    while let event = sides[side].machine.pollEvent() { carryOut(event, side) }
    while let message = sides[side].machine.pollTransmit() {
      switch message {
      case .control(let bytes): sides[side].control.append(bytes)
      case .data(let bytes):
        sides[side].data.append(bytes)
        sides[side].longestPiece = max(sides[side].longestPiece, bytes.count)
      }
    }
    let inFlight = sides[side].data.reduce(0) { $0 + $1.count }
    sides[side].mostInFlight = max(sides[side].mostInFlight, inFlight)
  }

  private mutating func carryOut(_ event: TransferEvent, _ side: Int) {
    switch event {
    case .read(let id, let offset, let count):
      let file = sides[side].files[id.number] ?? []
      let bytes = Array(file[Int(offset)..<Int(offset) + count])
      sides[side].machine.provide(bytes, for: id)
    case .received(let id, let offset, let bytes):
      #expect(Int(offset) == sides[side].stored[id.number]?.count)
      sides[side].stored[id.number]?.append(contentsOf: bytes)
      if !sides[side].stalled.contains(id.number) { store(id, side) }
    default: sides[side].events.append(event)
    }
  }

  /// Records that everything of a file that has arrived is stored.
  mutating func store(_ id: TransferID, _ side: Int) {
    let end = UInt64(sides[side].stored[id.number]?.count ?? 0)
    sides[side].machine.didStore(id, upTo: end, at: .zero)
  }

  /// Removes and returns the events of one side, without those that report progress.
  mutating func takeEvents(_ side: Int) -> [TransferEvent] {
    defer { sides[side].events = [] }
    return sides[side].events.filter { if case .stored = $0 { false } else { true } }
  }
}

/// Returns `count` random bytes, which repeat after a length that divides no length of a message.
func randomBytes(_ count: Int, seed: UInt64 = 5) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  let block = (0..<4_099).map { _ in UInt8.random(in: 0...255, using: &generator) }
  var bytes: [UInt8] = []
  while bytes.count < count { bytes += block }
  return Array(bytes[..<count])
}
