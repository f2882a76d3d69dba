import CaromDNS
import CaromDiscovery
import CaromNearby
import CaromTransport
import Dispatch
import Foundation

/// A service that this side publishes, or that a browser has found.
///
/// A program that publishes listens on the port itself. Delegate calls come on a serial queue: no
/// run loop is needed.
open class NetService: NSObject,
  @unchecked Sendable  // the properties are constant, or locked
{
  /// What publishing does beside the default.
  public struct Options: OptionSet, Hashable, Sendable {
    /// The bits of the options.
    public let rawValue: UInt
    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// A name that is taken is an error; otherwise "X" becomes "X (2)".
    public static let noAutoRename = Options(rawValue: 1)
  }

  /// The queue of the delegate calls of all services and browsers.
  static let queue = DispatchQueue(label: "CaromBonjour")

  struct State: Sendable {
    var name: String
    var port: Int
    var hostName: String?
    var addresses: [Data]?
    var record = TXTRecord()
    var advertisement: Advertisement?
    var publishing: Task<Void, Never>?
    var resolving: Task<Void, Never>?
    var monitoring: Task<Void, Never>?
  }

  /// The domain, such as "local.".
  public let domain: String
  /// The type, such as "_music._tcp.".
  public let type: String
  let calls = DelegateCalls(on: queue)
  let state: Locked<State>

  /// Describes a service to resolve.
  public convenience init(domain: String, type: String, name: String) {
    self.init(domain: domain, type: type, name: name, port: -1)
  }

  /// Describes a service to publish.
  ///
  /// - Parameters:
  ///   - domain: The domain; empty for "local.".
  ///   - type: The type, such as "_music._tcp.", and subtypes after commas.
  ///   - name: The name; empty for this host's name.
  ///   - port: The port on which the program listens.
  public init(domain: String, type: String, name: String, port: Int32) {
    self.domain = domain.isEmpty ? "local." : domain
    self.type = type
    state = Locked(State(name: name, port: Int(port)))
    super.init()
  }

  deinit {
    calls.end()
    state.withLock { state in
      for task in [state.publishing, state.resolving, state.monitoring] { task?.cancel() }
    }
  }

  /// The object that is told what happens. It is not retained.
  open var delegate: (any NetServiceDelegate)? {
    get { calls.delegate as? any NetServiceDelegate }
    set { calls.delegate = newValue }
  }

  /// The name: the final one once the service is published.
  open var name: String { state.withLock { $0.name } }
  /// The port; -1 if it is not known.
  open var port: Int { state.withLock { $0.port } }
  /// The name of the service's host once it is resolved.
  open var hostName: String? { state.withLock { $0.hostName } }
  /// The addresses once the service is resolved, each as a `sockaddr` of the system.
  open var addresses: [Data]? { state.withLock { $0.addresses } }

  /// Tells the delegate something, unless the service is released before.
  func report(_ call: @escaping @Sendable (NetService, any NetServiceDelegate) -> Void) {
    calls.post { [weak self] in
      guard let self, let delegate else { return }
      call(self, delegate)
    }
  }

  // MARK: TXT records

  /// The TXT record in its form on the wire; nil if it is empty.
  open func txtRecordData() -> Data? {
    let record = state.withLock { $0.record }
    return record.isEmpty ? nil : Data(record.encoded)
  }

  /// Sets the TXT record. Of a published service, the change is announced. Returns false if the
  /// data is longer than a record can be.
  @discardableResult
  open func setTXTRecord(_ data: Data?) -> Bool {
    let record = data.map { TXTRecord(decoding: [UInt8]($0)) } ?? TXTRecord()
    guard record.length <= TXTRecord.maximumLength else { return false }
    let advertisement = state.withLock { state in
      state.record = record
      return state.advertisement
    }
    if let advertisement { Task { try? await advertisement.update(txt: record) } }
    return true
  }

  /// Returns the key-value pairs of a TXT record. A key without a value has empty data.
  public class func dictionary(fromTXTRecord data: Data) -> [String: Data] {
    let record = TXTRecord(decoding: [UInt8](data))
    var pairs: [String: Data] = [:]
    for key in record.keys {
      if case .bytes(let bytes)? = record.value(for: key) {
        pairs[key] = Data(bytes)
      } else {
        pairs[key] = Data()
      }
    }
    return pairs
  }

  /// Returns the TXT record with these key-value pairs, in the order of the keys. Pairs that a
  /// record cannot contain (RFC 6763, section 6) are left out.
  public class func data(fromTXTRecord pairs: [String: Data]) -> Data {
    var record = TXTRecord()
    for (key, value) in pairs.sorted(by: { $0.key < $1.key }) {
      try? record.set(key, to: .bytes([UInt8](value)))
    }
    return Data(record.encoded)
  }
}
