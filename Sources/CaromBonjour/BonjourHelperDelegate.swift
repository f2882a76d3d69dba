import CaromProtocol
import Foundation

/// What a `BonjourHelper` reports, on one serial queue. Calls that are due before the delegate is
/// set wait for it. All methods have default implementations that do nothing.
public protocol BonjourHelperDelegate: AnyObject {
  /// The two sides are connected. `connectionLost` follows, once, when they no longer are.
  func connectionEstablished()
  /// The two sides are no longer connected.
  func connectionLost()
  /// `sendData` was called. `errorMessage` is nil if the data was queued, and says otherwise why it
  /// was not.
  func sentData(_ errorMessage: String?)
  /// Data has arrived.
  func receivedData(_ data: Data)
  /// An attempt to connect, or a connection, has ended for this reason. Called before
  /// `connectionLost` if there was a connection.
  func connectionDidEnd(_ error: BonjourHelperError)
  /// The state has changed.
  func stateDidChange(_ state: BonjourHelper.State)
}

extension BonjourHelperDelegate {
  /// Does nothing.
  public func connectionEstablished() {}
  /// Does nothing.
  public func connectionLost() {}
  /// Does nothing.
  public func sentData(_ errorMessage: String?) {}
  /// Does nothing.
  public func receivedData(_ data: Data) {}
  /// Does nothing.
  public func connectionDidEnd(_ error: BonjourHelperError) {}
  /// Does nothing.
  public func stateDidChange(_ state: BonjourHelper.State) {}
}

/// The reasons why a pair is not connected.
public enum BonjourHelperError: Error, Hashable, Sendable {
  /// The connection was lost, or one of the sides has ended it.
  case lost(DisconnectReason)
  /// The other side was lost before the connection was established, or did not want it.
  case notEstablished(DisconnectReason?)
  /// The network cannot be used: the text says why.
  case network(String)
}

extension BonjourHelperError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .lost(let reason): "you are no longer connected: \(reason)"
    case .notEstablished(let reason):
      "the other side was lost before the connection was established"
        + (reason.map { ": \($0)" } ?? "")
    case .network(let text): "the network cannot be used: \(text)"
    }
  }
}
