import CaromCore
import CaromTesting
import Foundation
import Testing

@testable import CaromSimulation

#if DEBUG
  private let worlds = 3
#else
  private let worlds = 40
#endif

@Suite struct SnapshotRoundTripTests {
  private let replay = ProcessInfo.processInfo.environment["CAROM_SEED"]

  @Test(arguments: [0.0, 0.25, 0.6])
  func `any world arrives as it is, and its bytes are written again as they were`(
    loss: Double
  ) throws {
    try Seeds(worlds, replay: replay).check { seed in
      var world = SnapshotWorld(seed: seed)
      var exchange = SnapshotExchange(schema: world.schema, loss: loss, seed: seed)
      for tick in 0..<200 {
        world.advance()
        try exchange.step(world.table, at: Tick(UInt64(tick)))
      }
      try #require(exchange.taken > (loss > 0.5 ? 30 : 80))
      try #require(exchange.missed == 0)
    }
  }

  @Test func `a world sent in parts is complete after the last part`() throws {
    try Seeds(worlds, replay: replay).check { seed in
      var generator = SeededGenerator(seed: seed)
      var world = SnapshotWorld(seed: seed)
      var exchange = SnapshotExchange(schema: world.schema, loss: 0.2, seed: seed)
      for tick in 0..<200 {
        world.advance()
        let selection = (0..<world.table.count).map { _ in generator.chance(0.3) }
        try exchange.step(world.table, at: Tick(UInt64(tick)), selecting: selection)
      }
      for tick in 200..<240 { try exchange.step(world.table, at: Tick(UInt64(tick))) }
      try #require(exchange.receiver.entities == world.table)
      try #require(exchange.missed == 0)
    }
  }

  @Test func `small snapshots use the shorter form`() throws {
    var forms: Set<Bool> = []
    for seed in UInt64(0)..<30 {
      var world = SnapshotWorld(seed: seed)
      var sender = SnapshotSender(schema: world.schema)
      for tick in UInt64(0)..<40 {
        world.advance()
        let bytes = sender.encode(world.table, at: Tick(tick))
        forms.insert(bytes[0] >= 0x80)
        if bytes[0] >= 0x80 { #expect(bytes.count <= RiceWriter.byteLimit) }
        sender.acknowledge(Tick(tick))
      }
    }
    #expect(forms.count == 2)
  }

  @Test func `entities enter and leave`() throws {
    let schema = EntitySchema(.integer(0...9))
    var exchange = SnapshotExchange(schema: schema, loss: 0, seed: 1)
    for (tick, ids) in [[], [5], [1, 5, 9], [1, 9], [7], [], [2]].enumerated() {
      for repetition in 0..<10 {
        try exchange.step(
          makeTable(schema, ids.map { (UInt32($0), [Int64($0)]) }),
          at: Tick(UInt64(10 * tick + repetition)))
      }
      #expect(exchange.receiver.entities.ids == ids.map { UInt32($0) })
    }
  }

  @Test func `snapshots may have any ticks, with gaps`() throws {
    for start in [UInt64(0), 100, 127, 128, 1 << 40, .max >> 2] {
      var world = SnapshotWorld(seed: start)
      var exchange = SnapshotExchange(schema: world.schema, loss: 0.1, seed: start)
      var tick = start
      for step in 0..<120 {
        world.advance()
        try exchange.step(world.table, at: Tick(tick))
        tick += step % 17 == 16 ? 100 : step % 5 == 4 ? 3 : 1
      }
      #expect(exchange.taken > 50)
    }
  }

  @Test func `a receiver that lost the base requests a full snapshot and gets it`() throws {
    var world = SnapshotWorld(seed: 3)
    var exchange = SnapshotExchange(schema: world.schema, loss: 0, seed: 3)
    for tick in 0..<60 {
      world.advance()
      if tick == 30 { exchange.receiver = SnapshotReceiver(schema: world.schema) }
      try exchange.step(world.table, at: Tick(UInt64(tick)))
    }
    #expect(exchange.missed + exchange.taken > 40)
    #expect(!exchange.receiver.acknowledgement.wantsKeyframe)
    #expect(exchange.receiver.tick! > Tick(50))
  }

  @Test func `the stream survives seconds without acknowledgements`() throws {
    var world = SnapshotWorld(seed: 4)
    var sender = SnapshotSender(schema: world.schema)
    var receiver = SnapshotReceiver(schema: world.schema)
    for tick in 0..<400 {
      world.advance()
      let bytes = sender.encode(world.table, at: Tick(UInt64(tick)))
      _ = try receiver.receive(bytes.span)
      #expect(receiver.entities == world.table)
      if tick < 20 || tick > 300 { sender.acknowledge(receiver.acknowledgement) }
    }
    #expect(sender.acknowledgedTick == Tick(399))
  }

  @Test func `a world at rest costs one or two bytes per snapshot`() throws {
    let schema = EntitySchema(.position(-100...100, step: 0.01), .position(-100...100, step: 0.01))
    let table = makeTable(schema, (0..<1_000).map { (UInt32($0), [Int64($0), 5]) })
    var sender = SnapshotSender(schema: schema)
    for tick in 0..<20 {
      let bytes = sender.encode(table, at: Tick(UInt64(tick)))
      if tick > 2 { #expect(bytes.count < 12) }
      sender.acknowledge(Tick(UInt64(tick)))
    }
  }
}

func makeTable(_ schema: EntitySchema, _ rows: [(UInt32, [Int64])]) -> EntityTable {
  var table = EntityTable(schema: schema)
  for (id, values) in rows { table.append(id, values) }
  return table
}
