import CaromBonjour
import TestEvents

/// A text that no other test uses.
func makeSessionID() -> String {
  BonjourNetwork.interfaces = ["lo"]
  return "bh \(UInt64.random(in: .min ... .max))"
}

/// A service type that no other test uses.
func makeServiceType() -> String {
  BonjourNetwork.interfaces = ["lo"]
  return "_bh-\(String(UInt32.random(in: .min ... .max), radix: 36))._tcp."
}

/// A helper whose delegate calls are recorded.
final class TestHelper: BonjourHelperDelegate, Sendable {
  enum Event: Hashable, Sendable {
    case established, lost
    case sent(String?)
    case data(Data)
    case ended(BonjourHelperError)
    case state(BonjourHelper.State)
  }

  let helper: BonjourHelper
  let log = EventLog<Event>()

  init(_ sessionID: String, name: String = "", hasDelegate: Bool = true) {
    helper = BonjourHelper(sessionID: sessionID, name: name)
    if hasDelegate { helper.dataDelegate = self }
  }

  /// How often the connection was established and lost, in order.
  var connections: [Event] { log.events.filter { $0 == .established || $0 == .lost } }

  func connectionEstablished() { log.add(.established) }
  func connectionLost() { log.add(.lost) }
  func sentData(_ errorMessage: String?) { log.add(.sent(errorMessage)) }
  func receivedData(_ data: Data) { log.add(.data(data)) }
  func connectionDidEnd(_ error: BonjourHelperError) { log.add(.ended(error)) }
  func stateDidChange(_ state: BonjourHelper.State) { log.add(.state(state)) }
}
