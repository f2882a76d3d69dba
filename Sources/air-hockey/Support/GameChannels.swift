import AirHockey
import Carom
import CaromFleet

/// The identity of the game's protocol: application `airhockey`, version 4.
enum GameWire {
  static let application = "airhockey"
  static let version: UInt16 = 4
  static let serviceType: ServiceType = "_airhockey._tcp"
  /// The channels that the game uses.
  static let channels: [UInt8] = [0, 1, 2]
  /// The channels that a player of a fleet uses.
  static let fleetChannels = channels + [MessageChannel.doorTokens.id]
}

extension RollbackChannels {
  /// The channels of the match: 0 for inputs, and 1 for seats, whole states and messages about
  /// desyncs.
  static let match = RollbackChannels(inputs: 0, control: 1)
}

extension MessageChannel<MatchNotice> {
  /// The channel of the game's own messages.
  static var notices: Self { .init(2, .reliableOrdered) }
}
