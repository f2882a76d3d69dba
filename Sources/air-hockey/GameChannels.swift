import AirHockey
import Carom

/// The game's messages on the wire: `airhockey`, version 1.
enum GameWire {
  static let application = "airhockey"
  static let version: UInt16 = 1
  static let serviceType: ServiceType = "_airhockey._tcp"
}

extension Channel<TableState> {
  /// The host's table, each tick.
  static var states: Self { .init(0, .unreliableSequenced) }
}

extension Channel<GuestInput> {
  /// The guest's mallet, each tick.
  static var mallets: Self { .init(1, .unreliableSequenced) }
}

extension Channel<TableEvent> {
  /// Goals, pauses, ends: from the host, each once.
  static var events: Self { .init(2, .reliableOrdered) }
}

extension Channel<GuestRequest> {
  /// What the guest asks for, each once.
  static var requests: Self { .init(3, .reliableOrdered) }
}
