import Carom

/// Entities that move in straight lines and turn around at walls: a server's work without a game.
struct EntityWorld: FramesWorld {
  /// The position of an entity and its movement in each tick, in units of 2^-16.
  struct Entity: Hashable, Sendable {
    var x: Int32
    var y: Int32
    var stepX: Int32
    var stepY: Int32
  }

  /// The message that the server sends to the client.
  struct State: PacketCodable {
    var tick: UInt64
    var clock: Instant
    var entities: [Entity]
  }

  /// The message that the client sends, which is as long as a hockey player's input.
  struct Input: PacketCodable {
    var tick: UInt64
    var clock: Instant
    var wanted: UInt32
  }

  /// The distance of the walls from the center.
  static let reach: Int32 = 100 << 16

  private var tick: UInt64 = 0
  private var entities: [Entity]
  private var wanted: UInt32 = 0

  init(index: Int, entities: Int) {
    var generator = SeededGenerator(seed: UInt64(index) + 1)
    let places = -Self.reach...Self.reach
    let steps: ClosedRange<Int32> = -(1 << 16)...(1 << 16)
    self.entities = (0..<entities).map { _ in
      Entity(
        x: .random(in: places, using: &generator), y: .random(in: places, using: &generator),
        stepX: .random(in: steps, using: &generator), stepY: .random(in: steps, using: &generator))
    }
  }

  mutating func receive(_ input: Input) { wanted = input.wanted }

  mutating func step(at now: Instant) -> State {
    tick += 1
    for index in entities.indices { entities[index].move() }
    return State(tick: tick, clock: now, entities: entities)
  }

  static func input(_ tick: UInt64, seeing state: State?, at now: Instant) -> Input {
    Input(tick: tick, clock: now, wanted: UInt32(truncatingIfNeeded: tick))
  }

  static func stamp(of state: State) -> (tick: UInt64, clock: Instant) {
    (state.tick, state.clock)
  }
}

extension EntityWorld.Entity {
  fileprivate mutating func move() {
    Self.move(&x, &stepX)
    Self.move(&y, &stepY)
  }

  private static func move(_ place: inout Int32, _ step: inout Int32) {
    place += step
    guard abs(place) > EntityWorld.reach else { return }
    step = -step
    place += 2 * step
  }
}

extension EntityWorld.State {
  /// Encodes the tick (u64), the clock (i64), the number of entities (u32), then x and y of each
  /// entity (i32).
  func encode(into writer: inout PacketWriter) {
    writer.write(tick)
    writer.write(UInt64(bitPattern: clock.nanoseconds))
    writer.write(UInt32(entities.count))
    for entity in entities {
      writer.write(UInt32(bitPattern: entity.x))
      writer.write(UInt32(bitPattern: entity.y))
    }
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = try reader.read()
    clock = Instant(nanoseconds: Int64(bitPattern: try reader.read(UInt64.self)))
    let count = Int(try reader.read(UInt32.self))
    guard reader.remaining == 8 * count else { throw .invalid(what: "entity count") }
    entities = []
    entities.reserveCapacity(count)
    for _ in 0..<count {
      let x = Int32(bitPattern: try reader.read(UInt32.self))
      let y = Int32(bitPattern: try reader.read(UInt32.self))
      entities.append(EntityWorld.Entity(x: x, y: y, stepX: 0, stepY: 0))
    }
  }
}

extension EntityWorld.Input {
  func encode(into writer: inout PacketWriter) {
    writer.write(tick)
    writer.write(UInt64(bitPattern: clock.nanoseconds))
    writer.write(wanted)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    tick = try reader.read()
    clock = Instant(nanoseconds: Int64(bitPattern: try reader.read(UInt64.self)))
    wanted = try reader.read()
  }
}
