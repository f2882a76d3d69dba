import CaromCore
import CaromCrypto
import CaromSession
import CaromTransport
import Foundation

/// The files in which the keys of archived own ids are kept, one for each id.
enum PeerKeyFile {
  /// The configuration folder to use in place of the account's. Only tests set it.
  @TaskLocal static var folder: String?

  /// The path of an id's key, in a folder beside those of Carom's applications.
  private static func path(of id: PeerID) -> String? {
    let application = "multipeer-\(id)"
    if let folder { return "\(folder)/\(application)/identity" }
    return IdentityFile.defaultPath(for: application)
  }

  /// The identity that belongs to an id; nil if this account does not have it.
  static func identity(of id: PeerID) -> Identity? {
    guard let path = path(of: id),
      let identity = try? IdentityFile.load(at: path), identity.id == id
    else { return nil }
    return identity
  }

  /// Stores an identity, unless it is stored already. An error is written to standard error: the id
  /// can still be used until the process ends.
  static func store(_ identity: Identity) {
    guard let path = path(of: identity.id) else {
      return Diagnostics.report("\(IdentityFileError.noFolder)")
    }
    do {
      try IdentityFile.store(identity, at: path)
    } catch { Diagnostics.report("\(error)") }
  }
}

/// The name of this host as a display name: the first label of its host name.
enum HostDisplayName {
  static var current: String {
    let label = HostName.current.split(separator: ".").first.map(String.init) ?? ""
    return label.isEmpty || label.utf8.count > PeerID.maximumNameLength ? "Linux" : label
  }
}

/// Messages for the developer, where Apple's interface has no way to return an error.
enum Diagnostics {
  static func report(_ text: String) {
    FileHandle.standardError.write(Data("MultipeerConnectivity: \(text)\n".utf8))
  }
}
