import CaromCore
import CaromGroup
import CaromTransport

/// A file that is received, before it is complete: the part that has arrived, and beside it the
/// offer that it belongs to, so that a later transfer of the same content can continue it.
///
/// Both have hidden names that are made from the hash of the content, and that no peer can choose.
struct PartialFile {
  /// The maximum number of incomplete files of the same content in one folder.
  private static let slots = 8
  /// The maximum length of a stored offer, in bytes.
  private static let offerLength = 1 << 10
  private static let header = Array("carom-offer-1\n".utf8)

  let folder: OpenFolder
  let file: OpenFile
  private let name: String
  /// The names of all incomplete files of the same content.
  private let names: [String]

  private var offerName: String { Self.offerName(of: name) }

  private static func offerName(of name: String) -> String { name + ".offer" }

  /// Opens or creates the incomplete file of an offer, and locks it. If it is the rest of a
  /// transfer of other content, it is emptied.
  init(of offer: FileOffer, in folder: OpenFolder) throws(FileFailure) {
    for slot in 0..<Self.slots {
      do throws(FileFailure) {
        self = try Self(of: offer, in: folder, slot: slot)
        return
      } catch .inUse {
        continue
      }
    }
    throw .inUse
  }

  private init(of offer: FileOffer, in folder: OpenFolder, slot: Int) throws(FileFailure) {
    self.folder = folder
    names = (0..<Self.slots).map { slot in
      ".carom-\(Self.digits(of: offer.hash))\(slot == 0 ? "" : "-\(slot)").part"
    }
    name = names[slot]
    file = try folder.file(name, isCreated: true)
    try file.lock()
    // Another process may have completed the file, and thus renamed it, before it was locked here.
    guard folder.has(file, named: name) else { throw .inUse }
    let stored = folder.content(of: offerName, limit: Self.offerLength)
    if let stored, Self.decode(stored)?.hasSameContent(as: offer) == true { return }
    try file.truncate(to: 0)
    try folder.replace(offerName, with: Self.encode(offer))
  }

  private static func digits(of hash: [UInt8]) -> String {
    hash.prefix(16).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  private static func encode(_ offer: FileOffer) -> [UInt8] {
    header + TransferMessage.offer(0, offer).encoded
  }

  private static func decode(_ bytes: [UInt8]) -> FileOffer? {
    guard bytes.starts(with: header),
      case .offer(_, let offer)? = try? TransferMessage(
        decoding: Array(bytes[header.count...]).span)
    else { return nil }
    return offer
  }

  /// Gives the file its final name, and returns that name. Other incomplete files of the same
  /// content, which no transfer uses any longer, are removed.
  func publish(as wanted: FileName, _ existing: ExistingFile) throws(FileFailure) -> FileName {
    defer { folder.remove(offerName) }
    try file.synchronize()
    defer {
      removeOthers()
      folder.synchronize()
    }
    if case .replace = existing {
      try folder.move(name, replacing: wanted.text)
      return wanted
    }
    for number in 1...9999 {
      let candidate = number == 1 ? wanted : wanted.numbered(number)
      do throws(FileFailure) {
        try folder.move(name, to: candidate.text)
        return candidate
      } catch .exists {
        guard case .keepBoth = existing else { throw .exists }
      }
    }
    throw .exists
  }

  private func removeOthers() {
    for other in names where other != name {
      guard let file = try? folder.file(other, isCreated: false), (try? file.lock()) != nil,
        folder.has(file, named: other)
      else { continue }
      folder.remove(other)
      folder.remove(Self.offerName(of: other))
    }
  }

  /// Removes the file and the offer.
  func remove() {
    folder.remove(name)
    folder.remove(offerName)
  }
}
