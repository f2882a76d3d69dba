import CaromCrypto
import CaromTransport

/// The file in which an application keeps the public keys of the peers that it knows.
public struct KnownPeersFile: Hashable, Sendable {
  /// The path of the file.
  public let path: String

  /// Creates a value for the file at `path`, which is not opened yet.
  public init(path: String) { self.path = path }

  /// Reads the list. It is empty if there is no file. Blocks while it reads.
  public func load() throws(KnownPeersFileError) -> KnownPeers {
    let content: [UInt8]
    do throws(PrivateFile.Failure) {
      content = try PrivateFile.content(
        of: path, limit: KnownPeers.maximumText, isSecret: false)
    } catch .missing {
      return KnownPeers()
    } catch {
      throw .cannotRead(path: path, error)
    }
    do throws(KnownPeersError) {
      return try KnownPeers(decoding: content)
    } catch {
      throw .malformed(path: path, error)
    }
  }

  /// Stores the list in place of the one that is in the file. A reader finds either the old or the
  /// new list, even if the system crashes. Comments in the file are lost. Blocks while it writes.
  public func store(_ peers: KnownPeers) throws(KnownPeersFileError) {
    do throws(PrivateFile.Failure) {
      try PrivateFile.makeFolder(of: path)
      try PrivateFile.replace(with: peers.encoded, at: path)
    } catch {
      throw .cannotWrite(path: path, error)
    }
  }
}

/// The reasons why a list of known peers is not loaded or not stored.
public enum KnownPeersFileError: Error, Sendable {
  /// The file cannot be read.
  case cannotRead(path: String, _ reason: any Error)
  /// The file is not a list of known peers.
  case malformed(path: String, KnownPeersError)
  /// The file cannot be written.
  case cannotWrite(path: String, _ reason: any Error)
}

extension KnownPeersFileError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .cannotRead(let path, let reason): "\(path) cannot be read: \(reason)"
    case .malformed(let path, let error): "\(path) is not a list of known peers: \(error)"
    case .cannotWrite(let path, let reason): "\(path) cannot be written: \(reason)"
    }
  }
}
