import CaromCrypto
import CaromTransport

/// The file of the key that a backend shares with its hosts: 64 hexadecimal digits and a line feed.
/// Only its owner may have permission to read it.
public struct BackendKeyFile: Hashable, Sendable {
  private static let lineFeed = UInt8(ascii: "\n")

  /// The path of the file.
  public let path: String

  /// Creates a value for the file at `path`, which is not opened yet.
  public init(path: String) { self.path = path }

  /// Reads the key. Blocks while it reads.
  public func load() throws(BackendKeyFileError) -> BackendKey {
    var content: [UInt8]
    do throws(PrivateFile.Failure) {
      content = try PrivateFile.content(of: path, limit: 2 * BackendKey.length + 1, isSecret: true)
    } catch .shared {
      throw .readableByOthers(path: path)
    } catch .tooLong {
      throw .malformed(path: path)
    } catch {
      throw .cannotRead(path: path, error)
    }
    if content.last == Self.lineFeed { content.removeLast() }
    let key = BackendKey(hexadecimal: content)
    _ = SecretBytes(moving: &content)
    guard let key else { throw .malformed(path: path) }
    return key
  }

  /// Creates a new key and the file for it, which must not exist yet. Blocks while it writes.
  @discardableResult
  public func create() throws(BackendKeyFileError) -> BackendKey {
    var generator = SystemGenerator()
    let key = BackendKey(using: &generator)
    var content = key.hexadecimal.reveal() + [Self.lineFeed]
    defer { _ = SecretBytes(moving: &content) }
    do throws(PrivateFile.Failure) {
      try PrivateFile.create(content, at: path)
    } catch {
      throw .cannotCreate(path: path, error)
    }
    return key
  }
}

/// The reasons why a backend's key is not loaded or not created.
public enum BackendKeyFileError: Error, Sendable {
  /// Other users can read or write the file, or another user owns it: its key may be known.
  case readableByOthers(path: String)
  /// The file does not have 64 hexadecimal digits.
  case malformed(path: String)
  /// The file cannot be read.
  case cannotRead(path: String, _ reason: any Error)
  /// The file cannot be created, for example because it exists already.
  case cannotCreate(path: String, _ reason: any Error)
}

extension BackendKeyFileError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .readableByOthers(let path):
      "the key \(path) can be read by other users: create a new one, or use chmod 600 if nobody "
        + "else has read it"
    case .malformed(let path): "the key \(path) does not have 64 hexadecimal digits"
    case .cannotRead(let path, let reason): "the key \(path) cannot be used: \(reason)"
    case .cannotCreate(let path, let reason): "\(path) is not created: \(reason)"
    }
  }
}
