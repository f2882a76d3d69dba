import CaromCore

@testable import CaromProtocol

/// The traffic of a peer: a game's messages, bulk data, or both.
struct Load: Sendable {
  /// Ticks a second, or 0 for no game. Each tick sends a state, and every `eventInterval` ticks a
  /// reliable event.
  var hertz = 0
  var ticks = 0
  /// The length of a state in bytes; 0 sends no states.
  var stateLength = 100
  /// The number of ticks from one event to the next.
  var eventInterval = 6
  var eventLength = 40
  /// The number of bytes of bulk data, in messages of `bulkLength` bytes.
  var bulkBytes = 0
  var bulkLength = 32 << 10

  static let game = Load(hertz: 60, ticks: 600)

  /// Only small reliable messages, one per tick.
  static func small(ticks: Int) -> Load {
    Load(hertz: 60, ticks: ticks, stateLength: 0, eventInterval: 1, eventLength: 60)
  }
}

/// The channels of a load.
enum LoadChannel {
  static let states: UInt8 = 0
  static let events: UInt8 = 1
  static let bulk: UInt8 = 2
}

/// Sends a load. Each message begins with its number and the time of sending.
struct LoadSender: Sendable {
  let load: Load
  private(set) var nextTick: Instant?
  private(set) var ticks = 0
  private(set) var events: UInt64 = 0
  private(set) var bulk: UInt64 = 0
  private(set) var bulkBytes = 0
  private var start: Instant?
  private var isFull = false

  init(_ load: Load = Load()) { self.load = load }

  var isDone: Bool { ticks >= load.ticks && bulkBytes >= load.bulkBytes }

  mutating func begin(at now: Instant) {
    guard start == nil else { return }
    start = now
    if load.hertz > 0, load.ticks > 0 { nextTick = now }
  }

  mutating func send(through machine: inout Host, _ link: ConnectionID, at now: Instant) {
    while let due = nextTick, now >= due {
      sendTick(through: &machine, link, at: now)
      ticks += 1
      nextTick =
        ticks < load.ticks
        ? start?.advanced(byNanoseconds: Int64(ticks) * 1_000_000_000 / Int64(load.hertz)) : nil
    }
    while bulkBytes < load.bulkBytes,
      (machine.connection(link)?.queuedBytes ?? .max) < 256 << 10
    {
      let length = min(load.bulkLength, load.bulkBytes - bulkBytes)
      let bytes = Self.message(bulk, length: max(16, length), at: now)
      guard (try? machine.send(bytes, on: LoadChannel.bulk, to: link, at: now)) != nil else {
        return
      }
      bulk += 1
      bulkBytes += bytes.count
    }
  }

  private mutating func sendTick(
    through machine: inout Host, _ link: ConnectionID, at now: Instant
  ) {
    if load.stateLength > 0 {
      let state = Self.message(UInt64(ticks), length: load.stateLength, at: now)
      _ = try? machine.send(
        state, on: LoadChannel.states, .unreliableSequenced, to: link, at: now)
    }
    guard ticks % load.eventInterval == 0 else { return }
    let event = Self.message(events, length: load.eventLength, at: now)
    if (try? machine.send(event, on: LoadChannel.events, to: link, at: now)) != nil {
      events += 1
    }
  }

  /// A message of its number, the time, and bytes that follow from the number.
  static func message(_ number: UInt64, length: Int, at now: Instant) -> [UInt8] {
    var writer = PacketWriter(capacity: length)
    writer.write(number)
    writer.write(UInt64(bitPattern: now.nanoseconds))
    var byte = UInt8(truncatingIfNeeded: number)
    while writer.count < length {
      writer.append(byte)
      byte = byte &* 5 &+ 1
    }
    return writer.bytes
  }
}

/// Checks received messages: reliable ones arrive exactly once, in order and unchanged, and no
/// state arrives after a newer one.
struct LoadChecker: Sendable {
  private(set) var events: UInt64 = 0
  private(set) var bulk: UInt64 = 0
  private(set) var bulkBytes = 0
  private(set) var states = 0
  private(set) var lastState: UInt64?
  private(set) var faults: [String] = []
  /// How long events and states took to arrive, in nanoseconds.
  private(set) var eventDelays: [Int64] = []
  private(set) var stateDelays: [Int64] = []
  private(set) var lastBulkAt: Instant?

  mutating func take(_ bytes: [UInt8], on channel: UInt8, at now: Instant) {
    var reader = PacketReader(bytes.span)
    guard let number = try? reader.read(UInt64.self), let sent = try? reader.read(UInt64.self)
    else {
      return faults.append("a message of \(bytes.count) bytes on \(channel)")
    }
    let time = Instant(nanoseconds: Int64(bitPattern: sent))
    if bytes != LoadSender.message(number, length: bytes.count, at: time) {
      faults.append("message \(number) on \(channel) arrived changed")
    }
    let delay = now.nanoseconds - time.nanoseconds
    switch channel {
    case LoadChannel.states:
      if let lastState, number <= lastState { faults.append("state \(number) after \(lastState)") }
      lastState = number
      states += 1
      stateDelays.append(delay)
    case LoadChannel.events:
      if number != events { faults.append("event \(number) instead of \(events)") }
      events = number + 1
      eventDelays.append(delay)
    default:
      if number != bulk { faults.append("bulk \(number) instead of \(bulk)") }
      bulk = number + 1
      bulkBytes += bytes.count
      lastBulkAt = now
    }
  }
}
