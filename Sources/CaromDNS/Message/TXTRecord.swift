import CaromCore

/// The strings beside a service: ordered `key=value` pairs (RFC 6763 §6).
///
/// Keys are printable ASCII without "=", compared without case; values are bytes. That a key is
/// absent, has no value, an empty value, or a value are four different things.
public struct TXTRecord: Hashable, Sendable {
  /// What stands behind a key that is there.
  public enum Content: Hashable, Sendable {
    /// `key` alone.
    case none
    /// `key=` and these bytes, which may be no bytes.
    case bytes([UInt8])
  }

  /// The longest string, bytes with key and "=" (RFC 6763 §6.1).
  public static let maximumStringLength = 255
  /// The longest record, bytes: it has to fit one message (RFC 6763 §6.1).
  public static let maximumLength = 8900
  /// Records over so many bytes make messages large that carry several services (RFC 6763 §6.2).
  public static let largeLength = 400
  /// Records over so many bytes do not fit an Ethernet frame with the rest of the message, so
  /// that they arrive in fragments, or not at all (RFC 6763 §6.2).
  public static let frameLength = 1300

  private struct Entry: Hashable, Sendable {
    var key: String
    var value: Content
  }

  private var entries: [Entry] = []

  /// A record without strings.
  public init() {}

  /// The keys in their order.
  public var keys: [String] { entries.map(\.key) }
  /// How many keys there are.
  public var count: Int { entries.count }
  /// Whether there is no key.
  public var isEmpty: Bool { entries.isEmpty }

  /// What stands behind `key`; `nil` where the key is absent.
  public func value(for key: String) -> Content? { index(of: key).map { entries[$0].value } }

  /// The value of `key` as text; `nil` where it is absent, has no value, or is no UTF-8.
  /// Setting `nil` removes the key. Setting what `set(_:to:)` would refuse is a programming error.
  public subscript(key: String) -> String? {
    get {
      guard case .bytes(let bytes) = value(for: key) else { return nil }
      return String(validating: bytes, as: UTF8.self)
    }
    set {
      guard let newValue else {
        remove(key)
        return
      }
      do throws(TXTRecordError) {
        try set(key, to: .bytes(Array(newValue.utf8)))
      } catch {
        preconditionFailure("\(key): \(error)")
      }
    }
  }

  /// Bytes on the wire, with a length byte for each string.
  public var length: Int { entries.reduce(0) { $0 + Self.string(of: $1).count + 1 } }
  /// Whether it has more bytes than a service should have: over 400.
  public var isLarge: Bool { length > Self.largeLength }
  /// Whether it has more bytes than a frame carries: over 1,300.
  public var exceedsFrame: Bool { length > Self.frameLength }

  /// The version of what the strings mean, under the key "txtvers"; `nil` where there is none, or
  /// no number. It stands first, so that readers find it there (RFC 6763 §6.7).
  public var version: Int? {
    get { self["txtvers"].flatMap { Int($0) } }
    set {
      remove("txtvers")
      guard let newValue else { return }
      let entry = Entry(key: "txtvers", value: .bytes(Array("\(newValue)".utf8)))
      entries.insert(entry, at: 0)
    }
  }

  /// What a reader of these versions may rely on: everything, or nothing where the record is of
  /// another version. A record without version is of the first (RFC 6763 §6.7).
  public func understood(by versions: ClosedRange<Int>, default first: Int = 1) -> TXTRecord {
    let isVersioned = value(for: "txtvers") != nil
    let version = isVersioned ? version : first
    return version.map(versions.contains) ?? false ? self : TXTRecord()
  }

  /// Puts `value` behind `key`, in its old place or at the end.
  public mutating func set(_ key: String, to value: Content) throws(TXTRecordError) {
    guard !key.isEmpty else { throw .emptyKey }
    guard key.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }) else {
      throw .invalidKey(key)
    }
    let entry = Entry(key: key, value: value)
    let length = Self.string(of: entry).count
    guard length <= Self.maximumStringLength else { throw .stringTooLong(length) }
    var changed = entries
    if let index = index(of: key) { changed[index] = entry } else { changed.append(entry) }
    let total = changed.reduce(0) { $0 + Self.string(of: $1).count + 1 }
    guard total <= Self.maximumLength else { throw .recordTooLong(total) }
    entries = changed
  }

  /// Removes `key`, if it is there.
  public mutating func remove(_ key: String) {
    if let index = index(of: key) { entries.remove(at: index) }
  }

  private func index(of key: String) -> Int? {
    entries.firstIndex { Self.isSame($0.key, key) }
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count
      && zip(a.utf8, b.utf8).allSatisfy { Name.folded($0) == Name.folded($1) }
  }

  private static func string(of entry: Entry) -> [UInt8] {
    guard case .bytes(let value) = entry.value else { return Array(entry.key.utf8) }
    return Array(entry.key.utf8) + [UInt8(ascii: "=")] + value
  }
}

// MARK: - Wire

extension TXTRecord {
  /// Each string behind its length byte; one zero byte where there is none (RFC 6763 §6.1).
  package var encoded: [UInt8] {
    guard !entries.isEmpty else { return [0] }
    return entries.flatMap { entry in
      let string = Self.string(of: entry)
      return [UInt8(string.count)] + string
    }
  }

  /// Reads strings behind length bytes. A string without key, or with a key that came before,
  /// is skipped (RFC 6763 §6.4), and so is what does not end.
  package init(decoding bytes: [UInt8]) {
    var rest = bytes[...]
    while let length = rest.popFirst() {
      guard Int(length) <= rest.count else { return }
      append(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
    }
  }

  private mutating func append(_ string: ArraySlice<UInt8>) {
    let keyBytes = string.prefix { $0 != UInt8(ascii: "=") }
    guard !keyBytes.isEmpty, keyBytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return }
    let key = String(decoding: keyBytes, as: UTF8.self)
    guard index(of: key) == nil else { return }
    let hasValue = keyBytes.endIndex < string.endIndex
    let value: Content = hasValue ? .bytes(Array(string[(keyBytes.endIndex + 1)...])) : .none
    entries.append(Entry(key: key, value: value))
  }
}

extension TXTRecord: ExpressibleByDictionaryLiteral {
  /// Keys and values that stand in the program's text; the first of equal keys wins.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (key, value) in elements where index(of: key) == nil { self[key] = value }
  }
}

extension TXTRecord: CustomStringConvertible {
  /// `key=value` pairs between spaces, for people.
  public var description: String {
    entries.map { String(decoding: Self.string(of: $0), as: UTF8.self) }.joined(separator: " ")
  }
}
