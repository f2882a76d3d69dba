import CaromCore
import CaromNearby
import CaromTransport
import Dispatch
import Foundation

/// A pair of devices with the same session identifier that find each other and connect.
///
/// Both sides do the same: each is visible and looks for the other, and neither has a role. Exactly
/// one connection comes about, also if both sides connect at the same moment or many devices have
/// the same identifier: those pair off, and one that is left over waits. A side that is paired is
/// invisible, and visible again when the other side has left.
///
/// ```swift
/// let helper = BonjourHelper(sessionID: "typingtogether")
/// helper.dataDelegate = self
/// helper.connect()
/// ```
public final class BonjourHelper: Sendable {
  /// What the helper is doing.
  public enum State: Hashable, Sendable {
    /// It is not on the network.
    case idle
    /// It looks for another device.
    case searching
    /// It has found one and connects to it.
    case connecting
    /// It is connected.
    case connected
  }

  /// What has become of data that was to be sent.
  public enum SendResult: Hashable, Sendable {
    /// It is queued, and arrives unless the connection ends.
    case queued
    /// There is no connection.
    case notConnected
    /// It has more than 1 MiB.
    case tooLarge
    /// Too much data waits to be sent: try again later.
    case queueFull
  }

  /// The session identifier that is used if none is given.
  public static let defaultSessionID = "carom-pair"
  /// The maximum length of the data of one call of `sendData`, in bytes.
  public static let maximumDataLength = 1 << 20

  private struct Shared: Sendable {
    var state = State.idle
    var pairing: Pairing?
    var connection: PairConnection?
  }

  /// The session identifier. Only devices with the same one pair.
  public let sessionID: BonjourSessionID
  /// The name that the other side sees; at most 63 bytes of UTF-8.
  public let name: String
  private let calls = DelegateCalls(on: DispatchQueue(label: "BonjourHelper"))
  private let shared = Locked(Shared())

  /// Creates a helper that is not on the network yet.
  ///
  /// - Parameters:
  ///   - sessionID: Any text.
  ///   - name: The name that the other side sees; empty for this host's name. Traps if it has more
  ///     than 63 bytes of UTF-8.
  public init(sessionID: String = defaultSessionID, name: String = "") {
    precondition(name.utf8.count <= PeerID.maximumNameLength, "a name has at most 63 bytes")
    self.sessionID = BonjourSessionID(sessionID)
    let host = HostName.current.split(separator: ".").first.map(String.init) ?? "Linux"
    let fallback = host.utf8.count <= PeerID.maximumNameLength ? host : "Linux"
    self.name = name.isEmpty ? fallback : name
  }

  deinit {
    calls.end()
    shared.withLock { $0.pairing }?.stop()
  }

  /// The object that is told what happens. It is not retained.
  public var dataDelegate: (any BonjourHelperDelegate)? {
    get { calls.delegate as? any BonjourHelperDelegate }
    set { calls.delegate = newValue }
  }

  /// What the helper is doing now.
  public var state: State { shared.withLock { $0.state } }
  /// Whether it is connected.
  public var isConnected: Bool { state == .connected }
  /// The name of the other side; nil without a connection.
  public var peerName: String? { shared.withLock { $0.connection?.name } }
  /// The port on which this side listens; nil while it is not on the network.
  public var port: UInt16? { shared.withLock { $0.pairing }?.port }

  /// Looks for another device and connects to it, again and again after each connection that ends,
  /// until `disconnect` is called. Does nothing if that is under way.
  public func connect() {
    do throws(TransportError) {
      let pairing = try shared.withLock { shared throws(TransportError) -> Pairing? in
        guard shared.pairing == nil else { return nil }
        shared.pairing = try Pairing(sessionID, name, BonjourNetwork.selection)
        return shared.pairing
      }
      pairing?.start { [weak self, weak pairing] event in
        if let self, let pairing { handle(event, of: pairing) }
      }
    } catch {
      let reason = error.description
      report { $0.connectionDidEnd(.network(reason)) }
    }
  }

  /// Ends the connection, or what is under way, and leaves the network. Data that was queued before
  /// still arrives if that takes less than a second. `connect` can be called at once.
  public func disconnect() {
    let pairing = shared.withLock { shared in
      defer { shared.pairing = nil }
      return shared.pairing
    }
    guard let pairing else { return }
    lose(.lost(.closedLocally))
    pairing.stop()
    set(.idle)
  }

  /// Queues data for the other side, without waiting. The delegate is told with `sentData` as well.
  @discardableResult
  public func sendData(_ data: Data) -> SendResult {
    let result: SendResult =
      if data.count > Self.maximumDataLength {
        .tooLarge
      } else if let connection = shared.withLock({ $0.connection }) {
        connection.send([UInt8](data)) ? .queued : .queueFull
      } else {
        .notConnected
      }
    let message: String? =
      switch result {
      case .queued: nil
      case .notConnected: "there is no connection"
      case .tooLarge: "data has at most \(Self.maximumDataLength) bytes"
      case .queueFull: "too much data waits to be sent: try again later"
      }
    report { $0.sentData(message) }
    return result
  }

  // MARK: Reports

  private func report(_ call: @escaping @Sendable (any BonjourHelperDelegate) -> Void) {
    calls.post { [weak self] in
      if let delegate = self?.dataDelegate { call(delegate) }
    }
  }

  private func set(_ state: State) {
    let isNew = shared.withLock { shared in
      defer { shared.state = state }
      return shared.state != state
    }
    if isNew { report { $0.stateDidChange(state) } }
  }

  /// Reports the end of a connection, if there is one.
  private func lose(_ error: BonjourHelperError) {
    let hadConnection = shared.withLock { shared in
      defer { shared.connection = nil }
      return shared.connection != nil
    }
    guard hadConnection else { return }
    report {
      $0.connectionDidEnd(error)
      $0.connectionLost()
    }
  }

  /// Handles an event, unless it is one of an earlier pairing, which this side has ended.
  private func handle(_ event: Pairing.Event, of pairing: Pairing) {
    guard shared.withLock({ $0.pairing === pairing }) else { return }
    switch event {
    case .searching: set(.searching)
    case .connecting: set(.connecting)
    case .established(let connection):
      shared.withLock { $0.connection = connection }
      set(.connected)
      report { $0.connectionEstablished() }
    case .data(let bytes, let share):
      report {
        $0.receivedData(Data(bytes))
        withExtendedLifetime(share) {}
      }
    case .lost(let reason): lose(.lost(reason))
    case .notEstablished(let reason):
      report { $0.connectionDidEnd(.notEstablished(reason)) }
    case .failed(let text):
      shared.withLock { $0.pairing = nil }
      set(.idle)
      report { $0.connectionDidEnd(.network(text)) }
    }
  }
}
