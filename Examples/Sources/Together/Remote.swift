import Carom

/// The position of a remote control's stick. Only the newest one counts.
struct Stick: Codable, Hashable, Sendable {
  /// The speed, from -1 (full speed backwards) to 1.
  var speed: Double
}

extension MessageChannel<Stick> {
  static var stick: Self { .init(0, .unreliableSequenced) }
}

/// A model car that a remote control drives: the first peer that invites it.
///
/// The car stops by itself when nothing has arrived from the remote control for 300 ms, whether the
/// remote control has left or is only out of reach. Returns the way that the car has gone, in
/// meters, and the time for which it went on without the remote control.
func driveCar(_ nearby: NearbySession) async throws -> (way: Double, overrun: Duration) {
  let session = nearby.session
  for await invitation in nearby.invitations where await invitation.accept() { break }
  await session.watchInput(on: .stick, limit: .milliseconds(300))
  var (way, speed) = (0.0, 0.0)
  var lastMessage = session.loop.now
  for await _ in FixedStep(hertz: 60, on: session.loop) {
    for stick in session.takeMessages(on: .stick) {
      // The car does not trust what it is told: the speed may be no number.
      speed = stick.message.speed.isFinite ? min(max(stick.message.speed, -1), 1) : 0
      lastMessage = stick.arrival
    }
    while let event = session.poll() {
      switch event {
      case .inputStopped, .left: return (way, session.loop.now - lastMessage)
      default: continue
      }
    }
    way += speed / 60
  }
  throw CancellationError()
}

/// Drives the first car that appears for a second at full speed. Then it says nothing any more, as
/// a remote control whose battery is empty, until `isStopped` returns.
func holdStick(_ nearby: NearbySession, until isStopped: () async -> Void) async throws {
  for await change in nearby.changes {
    guard case .added(let car) = change, await nearby.invite(car.id) == .accepted else { continue }
    break
  }
  for await step in FixedStep(hertz: 60, on: nearby.session.loop) {
    if step.tick.rawValue == 60 { break }
    for car in await nearby.session.peers { _ = car.post(Stick(speed: 1), on: .stick) }
  }
  await isStopped()
}
