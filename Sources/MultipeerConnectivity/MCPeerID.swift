import CaromCore
import CaromCrypto
import CaromSession
import Foundation

/// A peer of a session: a display name, and an identity that no other peer can claim.
///
/// Two ids with the same display name are different peers. An id that this process has created can
/// be the own id of sessions, advertisers and browsers; one that was found on the network only
/// names a peer.
///
/// To keep an own id from one start of a program to the next, archive it, as with Apple's
/// framework. The archive contains the name and a public identifier. Archiving stores the secret
/// key in a file that only this account can read, and unarchiving finds it there. Without the file,
/// the id still names the peer, but cannot be an own id: advertisers and browsers then report that
/// they did not start.
open class MCPeerID: NSObject, NSCopying, NSSecureCoding,
  @unchecked Sendable  // every property is constant
{
  /// The maximum length of a display name, in bytes of UTF-8.
  public static let maximumDisplayNameLength = PeerID.maximumNameLength

  let id: PeerID
  /// The key pair of an own id; nil for an id that names another peer.
  let identity: Identity?
  private let name: String

  /// The name that users see.
  open var displayName: String { name }

  /// Creates a new own id, which differs from every other one, also from those with the same name.
  ///
  /// - Parameter myDisplayName: At most 63 bytes of UTF-8; traps if it is longer. If it is empty,
  ///   the name of this host is used, because `Host.current().localizedName` is nil on Linux.
  public init(displayName myDisplayName: String) {
    let identity = Identity.random()
    self.identity = identity
    id = identity.id
    name = myDisplayName.isEmpty ? HostDisplayName.current : myDisplayName
    precondition(
      name.utf8.count <= Self.maximumDisplayNameLength,
      "a display name has at most \(Self.maximumDisplayNameLength) bytes of UTF-8")
  }

  /// Creates an id that names another peer.
  init(_ id: PeerID, name: String) {
    self.id = id
    self.name = name
    identity = nil
  }

  // MARK: Archives

  /// Whether archives of this class are decoded securely: true.
  open class var supportsSecureCoding: Bool { true }

  private enum Key {
    static let name = "displayName"
    static let id = "peerIdentifier"
  }

  /// Creates the id in an archive. It is an own id if this account has its key. Returns nil if the
  /// archive does not contain an id.
  public required init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: Key.name) as String?,
      let text = coder.decodeObject(of: NSString.self, forKey: Key.id) as String?,
      let id = PeerID(text), (1...Self.maximumDisplayNameLength).contains(name.utf8.count)
    else { return nil }
    self.name = name
    self.id = id
    identity = PeerKeyFile.identity(of: id)
  }

  /// Archives the name and the public identifier. The key of an own id is stored in the account's
  /// configuration folder, once.
  open func encode(with coder: NSCoder) {
    coder.encode(name as NSString, forKey: Key.name)
    coder.encode(id.description as NSString, forKey: Key.id)
    if let identity { PeerKeyFile.store(identity) }
  }

  /// Returns this id itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  // MARK: Equality

  /// Returns whether `object` is an id of the same peer, whatever its display name is.
  open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.id == id }

  /// A fixed function of the id: it is the same in every process.
  open override var hash: Int { Int(truncatingIfNeeded: id.high ^ id.low) }

  /// The class, the display name, and the beginning of the identifier.
  open override var description: String {
    "<MCPeerID: DisplayName = \(name), id = \(id.description.prefix(8))>"
  }
}
