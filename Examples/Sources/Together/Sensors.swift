import Carom

/// A value that a sensor has measured.
struct Reading: Codable, Sendable {
  /// The highest number and time that a display believes, so that computing with them never
  /// overflows.
  static let limit: Int64 = 1 << 62

  let number: Int
  /// The time of the measurement, in nanoseconds of the sensor's clock.
  let time: Int64
  let value: Double

  var isValid: Bool {
    let range = 0...Self.limit
    return range.contains(Int64(number)) && range.contains(time)
  }
}

extension MessageChannel<Reading> {
  static var readings: Self { .init(1, .unreliable) }
}

/// What a display has seen of a sensor.
struct Display: Sendable {
  /// The number of readings that have arrived.
  var count = 0
  /// The number of readings that have not arrived when a later one did.
  var lost = 0
  /// The age of the oldest reading at its arrival.
  var oldest = Duration.zero
  fileprivate var next = 0

  fileprivate mutating func add(_ reading: Reading, age: Duration?) {
    count += 1
    lost += max(reading.number - next, 0)
    next = max(next, reading.number + 1)
    if let age { oldest = max(oldest, age) }
  }
}

/// Streams a hundred readings a second to all peers, `count` in all. A reading that is lost is not
/// sent again: the next one is newer.
func streamReadings(_ count: Int, in nearby: NearbySession, displays: Int) async throws {
  let session = nearby.session
  var connected = 0
  for await event in session.events {
    if case .joined = event { connected += 1 }
    if case .left = event { connected -= 1 }
    if connected == displays { break }
  }
  for await step in FixedStep(hertz: 100, on: session.loop) {
    let number = Int(step.tick.rawValue)
    let time = session.loop.now
    let reading = Reading(
      number: number, time: time.nanoseconds, value: Double(number % 100) / 100)
    if !session.post(reading, on: .readings) { print("reading \(number) was not sent") }
    if number + 1 == count { break }
  }
  // The displays leave when they have seen enough.
  for await event in session.events {
    if case .left = event { connected -= 1 }
    if connected == 0 { break }
  }
}

/// Shows the readings of the first sensor until `last` has arrived, or a later one.
func showReadings(until last: Int, in nearby: NearbySession) async throws -> Display {
  var display = Display()
  for await received in nearby.session.messages(on: .readings) {
    let reading = received.message
    guard reading.isValid else { continue }
    // The sensor's clock is another one; the session knows the difference.
    let offset = await received.peer.clockOffset
    let age = offset.map { received.arrival - (Instant(nanoseconds: reading.time) - $0) }
    display.add(reading, age: age)
    if reading.number >= last { break }
  }
  return display
}
