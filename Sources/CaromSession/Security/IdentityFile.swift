import CaromCore
import CaromCrypto
import CaromTransport

/// The file in which a peer keeps its identity, so that others recognize it the next time.
///
/// The file has 82 bytes: "carom-identity-1 ", the 64 hexadecimal digits of the secret key, and a
/// line feed. No user other than the owner of the file may have permission to read it.
public enum IdentityFile {
  private static let header = Array("carom-identity-1 ".utf8)
  private static let length = header.count + 2 * KeyPair.secretLength + 1

  /// Loads the identity in the file at `path`, or creates one and stores it in that file. If
  /// several processes do so at the same time, all of them get the same identity.
  public static func loadOrCreate(at path: String) throws(IdentityFileError) -> LoadedIdentity {
    if let identity = try load(path) { return LoadedIdentity(identity, .loaded(path: path)) }
    let identity = Identity.random()
    var content = encode(identity)
    defer { _ = SecretBytes(moving: &content) }
    do throws(PrivateFile.Failure) {
      try PrivateFile.create(content, at: path)
      return LoadedIdentity(identity, .created(path: path))
    } catch .exists {
      // Another process has created the file in the meantime.
      guard let identity = try load(path) else {
        throw .cannotWrite(path: path, PrivateFile.Failure.missing)
      }
      return LoadedIdentity(identity, .loaded(path: path))
    } catch {
      throw .cannotWrite(path: path, error)
    }
  }

  /// Loads or creates the identity of an application, in the configuration folder of the account.
  /// Each application has an identity of its own, so that no two applications can tell that the
  /// same person uses them.
  ///
  /// If no file can be created, the identity is a new one on each start, and `origin` says so. A
  /// file that exists but cannot be read is an error.
  public static func loadOrCreate(
    for application: String
  ) throws(IdentityFileError) -> LoadedIdentity {
    try loadOrCreate(for: application, in: configurationFolder(PrivateFile.environment))
  }

  static func loadOrCreate(
    for application: String, in folder: String?
  ) throws(IdentityFileError) -> LoadedIdentity {
    guard let folder else { return .temporary(.noFolder) }
    let path = path(for: application, in: folder)
    if let identity = try load(path) { return LoadedIdentity(identity, .loaded(path: path)) }
    do throws(PrivateFile.Failure) {
      try PrivateFile.makeFolder(of: path)
    } catch {
      return .temporary(.cannotWrite(path: path, error))
    }
    do throws(IdentityFileError) {
      return try loadOrCreate(at: path)
    } catch {
      guard case .cannotWrite = error else { throw error }
      return .temporary(error)
    }
  }

  /// Loads the identity in the file at `path`. Returns nil if there is no file.
  package static func load(at path: String) throws(IdentityFileError) -> Identity? {
    try load(path)
  }

  /// Stores an identity in a new file at `path`, whose folder is created. Does nothing if there is
  /// a file already.
  package static func store(
    _ identity: Identity, at path: String
  ) throws(IdentityFileError) {
    var content = encode(identity)
    defer { _ = SecretBytes(moving: &content) }
    do throws(PrivateFile.Failure) {
      try PrivateFile.makeFolder(of: path)
      try PrivateFile.create(content, at: path)
    } catch .exists {
      return
    } catch {
      throw .cannotWrite(path: path, error)
    }
  }

  /// Returns the path of an application's identity: `carom/<application>/identity` in
  /// `$XDG_CONFIG_HOME`, or in `~/.config` if that is not set. Returns nil if there is no such
  /// folder because `HOME` is not set either.
  public static func defaultPath(for application: String) -> String? {
    configurationFolder(PrivateFile.environment).map { path(for: application, in: $0) }
  }

  /// Returns the account's configuration folder (XDG Base Directory Specification 0.8: a path that
  /// is not absolute is ignored).
  static func configurationFolder(_ environment: (String) -> String?) -> String? {
    if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return folder }
    guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
    return home + "/.config"
  }

  static func path(for application: String, in folder: String) -> String {
    "\(folder)/carom/\(folderName(of: application))/identity"
  }

  /// Returns a folder name for an application that no other application has. Bytes other than
  /// letters, digits, "-", "_" and a dot that is not the first byte are written as "%" and two
  /// hexadecimal digits.
  private static func folderName(of application: String) -> String {
    let name = application.utf8.enumerated().flatMap { index, byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        return [byte]
      case UInt8(ascii: ".") where index > 0: return [byte]
      default: return [UInt8(ascii: "%")] + Hexadecimal.digits(of: [byte])
      }
    }
    return name.isEmpty ? "%" : String(decoding: name, as: UTF8.self)
  }

  /// Loads the identity in a file. Returns nil if there is no file.
  private static func load(_ path: String) throws(IdentityFileError) -> Identity? {
    var content: [UInt8]
    do throws(PrivateFile.Failure) {
      content = try PrivateFile.content(of: path, limit: length, isSecret: true)
    } catch .missing {
      return nil
    } catch .shared {
      throw .readableByOthers(path: path)
    } catch .tooLong {
      throw .malformed(path: path)
    } catch {
      throw .cannotRead(path: path, error)
    }
    defer { if !content.isEmpty { _ = SecretBytes(moving: &content) } }
    guard content.count == length, content.starts(with: header), content.last == UInt8(ascii: "\n"),
      var secret = Hexadecimal.bytes(
        of: content.dropFirst(header.count).dropLast(), count: KeyPair.secretLength)
    else { throw .malformed(path: path) }
    return Identity(KeyPair(secret: SecretBytes(moving: &secret)))
  }

  private static func encode(_ identity: Identity) -> [UInt8] {
    var secret = identity.keys.secret.reveal()
    defer { _ = SecretBytes(moving: &secret) }
    return header + Hexadecimal.digits(of: secret) + [UInt8(ascii: "\n")]
  }
}

/// An identity, and where it came from.
public struct LoadedIdentity: Sendable {
  /// Where an identity came from.
  public enum Origin: Sendable {
    /// It was in the file at this path.
    case loaded(path: String)
    /// It is new, and was stored in the file at this path.
    case created(path: String)
    /// It is new, and is lost when the process ends, because it could not be stored for this
    /// reason. Tell the user once.
    case temporary(IdentityFileError)
  }

  /// The identity.
  public let identity: Identity
  /// Where it came from.
  public let origin: Origin

  fileprivate init(_ identity: Identity, _ origin: Origin) {
    self.identity = identity
    self.origin = origin
  }

  fileprivate static func temporary(_ reason: IdentityFileError) -> LoadedIdentity {
    LoadedIdentity(.random(), .temporary(reason))
  }
}

/// The reasons why an identity is not loaded or not stored.
public enum IdentityFileError: Error, Sendable {
  /// Other users can read or write the file, or another user owns it: its secret may be known.
  case readableByOthers(path: String)
  /// The file does not contain an identity: check the path, or remove the file to get a new
  /// identity.
  case malformed(path: String)
  /// The file cannot be read.
  case cannotRead(path: String, _ reason: any Error)
  /// The file cannot be created.
  case cannotWrite(path: String, _ reason: any Error)
  /// The account has no configuration folder: set `HOME`.
  case noFolder
}

extension IdentityFileError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .readableByOthers(let path):
      "\(path) can be read by other users, so its key may be known: remove it for a new one, "
        + "or use chmod 600 if nobody else has read it"
    case .malformed(let path):
      "\(path) is not an identity: check the path, or remove the file for a new identity"
    case .cannotRead(let path, let reason): "\(path) cannot be read: \(reason)"
    case .cannotWrite(let path, let reason):
      "\(path) cannot be created (\(reason)), so peers will not recognize you the next time"
    case .noFolder: "HOME is not set, so peers will not recognize you the next time"
    }
  }
}
