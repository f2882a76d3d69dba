import CaromCore
import Synchronization
import Testing

@testable import CaromSimulation

/// Keyframes and state reports, which clients request from a server.
@Suite struct RollbackReplyTests {
  enum Request: CaseIterable {
    case keyframe
    case reportOfEqualState
    case reportOfDifferentState
  }

  @Test(arguments: Request.allCases)
  func `a client that floods the server gets two replies per second`(request: Request) throws {
    var server = RollbackServer(Swarm(count: 10, seed: 3), players: 2, at: .zero)
    let number = server.addPlayer(0)
    for _ in 0..<40 {
      server.advance()
      while server.pollPacket() != nil {}
    }
    var replies = 0
    for _ in 0..<150 {
      server.advance()
      for _ in 0..<10 {
        try server.receive(Self.makePacket(request, server), from: number, at: .zero)
        while let (_, packet) = server.pollPacket() {
          if packet.message != .inputs { replies += 1 }
        }
      }
    }
    #expect((5...9).contains(replies))
  }

  @Test func `a reply that has to wait is sent later, and inputs are sent meanwhile`() throws {
    var server = RollbackServer(Swarm(count: 10, seed: 3), players: 2, at: .zero)
    let number = server.addPlayer(0)
    var messages: [RollbackMessage] = []
    for _ in 0..<5 {
      try server.receive(Self.makePacket(.keyframe, server), from: number, at: .zero)
      while let (_, packet) = server.pollPacket() { messages.append(packet.message) }
    }
    #expect(messages == Array(repeating: .keyframe, count: 4))
    messages = []
    for _ in 0..<60 {
      server.advance()
      while let (_, packet) = server.pollPacket() { messages.append(packet.message) }
    }
    #expect(messages.count { $0 == .keyframe } == 1)
    #expect(messages.count { $0 == .inputs } == 60)
  }

  @Test func `a state report contains stored hashes, and none is computed again`() throws {
    var server = RollbackServer(Clock(), players: 2, at: .zero)
    let number = server.addPlayer(0)
    for _ in 0..<100 {
      server.advance()
      while server.pollPacket() != nil {}
    }
    let before = Clock.hashes.load(ordering: .relaxed)
    let stored = (37...100).reversed().map { UInt32($0) }
    let report = DesyncStateReport(
      tick: Tick(100), hashes: [0] + stored.dropFirst(), description: nil, isAnswer: false)
    try server.receive(RollbackPacket(.stateReport, report.encoded), from: number, at: .zero)
    let packet = try #require(server.pollPacket()?.packet)
    #expect(packet.message == .stateReport)
    let answer = try DesyncStateReport(decoding: packet.bytes.span)
    #expect(answer.tick == Tick(100) && answer.hashes == stored)
    #expect(Clock.hashes.load(ordering: .relaxed) == before)
  }

  private static func makePacket(_ request: Request, _ server: RollbackServer<Swarm>)
    -> RollbackPacket
  {
    let hash = UInt32(truncatingIfNeeded: server.state.hash)
    let reported: UInt32? =
      switch request {
      case .keyframe: nil
      case .reportOfEqualState: hash
      case .reportOfDifferentState: ~hash
      }
    guard let reported else { return RollbackPacket(.keyframe, []) }
    let report = DesyncStateReport(
      tick: server.tick, hashes: [reported], description: nil, isAnswer: false)
    return RollbackPacket(.stateReport, report.encoded)
  }
}

/// A simulation that only counts its ticks. Its hash is the tick.
private struct Clock: Simulation, PacketCodable {
  /// The number of hashes that were computed.
  static let hashes = Atomic(0)

  private var tick: UInt64 = 0

  init() {}
  init(decoding reader: inout PacketReader) throws(DecodeError) { tick = try reader.read() }
  func encode(into writer: inout PacketWriter) { writer.write(tick) }

  mutating func step(_ inputs: Span<Swarm.Input>, events: inout [Never]) { tick += 1 }

  var hash: UInt64 {
    Self.hashes.add(1, ordering: .relaxed)
    return tick
  }

  func describe(into description: inout SimulationDescription) {
    description.entity("clock")
    description.field("tick", Int64(tick))
  }
}
