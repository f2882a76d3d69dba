import CaromCore
import CaromSimulation

/// A simulation unrelated to air hockey: many objects that move, bounce off walls, spawn and die.
struct Swarm: Simulation {
  enum Event: Hashable, Sendable {
    case born(UInt32)
    case died(UInt32)
  }

  /// A player's input: it pushes all objects of the player, and occasionally spawns or kills one.
  struct Input: SimulationInput {
    enum Wish: Int32, Hashable, Sendable {
      case nothing = 0
      case spawn = 1
      case kill = 2
    }

    var push: Int32 = 0
    var wish = Wish.nothing

    static var fieldCount: Int { 2 }

    init() {}
    init(push: Int32, wish: Wish = .nothing) {
      self.push = push
      self.wish = wish
    }
    init(fields: Span<Int32>) throws(DecodeError) {
      push = fields[0]
      guard (-100...100).contains(push) else { throw .invalid(what: "push") }
      guard let wish = Wish(rawValue: fields[1]) else { throw .invalid(what: "wish") }
      self.wish = wish
    }
    func field(_ index: Int) -> Int32 { index == 0 ? push : wish.rawValue }
    var held: Input { Input(push: push) }
    func merged(with later: Input) -> Input {
      Input(push: later.push, wish: later.wish == .nothing ? wish : later.wish)
    }
  }

  struct Thing: Hashable, Sendable {
    var id: UInt32
    var owner: UInt8
    var x: Int32
    var y: Int32
    var stepX: Int32
    var stepY: Int32
  }

  static let reach: Int32 = 1 << 20

  private(set) var things: [Thing] = []
  private(set) var born: UInt32 = 0
  /// The random generator's next seed, which is part of the state.
  private var chance: UInt64
  /// A value that tests corrupt.
  var damage: Int32 = 0

  init(count: Int, players: Int = 2, seed: UInt64) {
    chance = seed
    things.reserveCapacity(2 * count)
    for index in 0..<count { add(owner: UInt8(index % players)) }
  }

  private mutating func add(owner: UInt8) {
    var generator = SeededGenerator(seed: chance)
    let bits = generator.next()
    let more = generator.next()
    chance = generator.next()
    born += 1
    things.append(
      Thing(
        id: born, owner: owner, x: Int32(truncatingIfNeeded: bits) % Self.reach,
        y: Int32(truncatingIfNeeded: bits >> 32) % Self.reach,
        stepX: Int32(truncatingIfNeeded: more) % 2_000,
        stepY: Int32(truncatingIfNeeded: more >> 32) % 2_000))
  }

  mutating func step(_ inputs: Span<Input>, events: inout [Event]) {
    for index in things.indices {
      things[index].stepX += inputs[Int(things[index].owner) % inputs.count].push
      things[index].move()
    }
    if damage != 0, !things.isEmpty {
      things[0].stepY += damage
      damage = 0
    }
    for player in inputs.indices {
      switch inputs[player].wish {
      case .nothing: break
      case .spawn:
        add(owner: UInt8(player))
        events.append(.born(born))
      case .kill:
        guard let index = things.firstIndex(where: { $0.owner == player }) else { break }
        events.append(.died(things[index].id))
        things.remove(at: index)
      }
    }
  }

  var hash: UInt64 {
    var hash = StateHash()
    hash.combine(UInt64(born))
    hash.combine(chance)
    for thing in things {
      hash.combine(UInt64(thing.id) << 8 | UInt64(thing.owner))
      hash.combine(Int64(thing.x) << 32 | Int64(UInt32(bitPattern: thing.y)))
      hash.combine(Int64(thing.stepX) << 32 | Int64(UInt32(bitPattern: thing.stepY)))
    }
    return hash.value
  }

  mutating func copy(_ other: Swarm) {
    things.removeAll(keepingCapacity: true)
    things.append(contentsOf: other.things)
    born = other.born
    chance = other.chance
    damage = other.damage
  }

  func describe(into description: inout SimulationDescription) {
    for thing in things {
      description.entity("thing", UInt64(thing.id))
      description.field("x", Int64(thing.x))
      description.field("y", Int64(thing.y))
      description.field("step x", Int64(thing.stepX))
      description.field("step y", Int64(thing.stepY))
    }
  }
}

extension Swarm.Thing {
  fileprivate mutating func move() {
    Self.move(&x, &stepX)
    Self.move(&y, &stepY)
  }

  private static func move(_ place: inout Int32, _ step: inout Int32) {
    step = min(max(step, -4_000), 4_000)
    place += step
    guard abs(place) > Swarm.reach else { return }
    step = -step
    place += 2 * step
  }
}

extension Swarm: PacketCodable {
  func encode(into writer: inout PacketWriter) {
    writer.write(born)
    writer.write(chance)
    writer.write(UInt32(things.count))
    for thing in things {
      writer.write(thing.id)
      writer.append(thing.owner)
      for value in [thing.x, thing.y, thing.stepX, thing.stepY] {
        writer.write(UInt32(bitPattern: value))
      }
    }
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    born = try reader.read()
    chance = try reader.read()
    let count: UInt32 = try reader.read()
    guard Int(count) * 21 <= reader.remaining else { throw .invalid(what: "count") }
    for _ in 0..<count {
      let id: UInt32 = try reader.read()
      let owner: UInt8 = try reader.read()
      guard owner < 2 else { throw .invalid(what: "owner") }
      var values: [Int32] = []
      for _ in 0..<4 { values.append(Int32(bitPattern: try reader.read(UInt32.self))) }
      things.append(
        Thing(
          id: id, owner: owner, x: values[0], y: values[1], stepX: values[2], stepY: values[3]))
    }
  }
}
