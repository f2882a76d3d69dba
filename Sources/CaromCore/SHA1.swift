/// The hash function SHA-1 (RFC 3174), which WebSocket and STUN prescribe. It does not allocate.
///
/// Collisions of SHA-1 can be made, so nothing of Carom's own relies on it.
package struct SHA1: Sendable {
  /// The length of a block, in bytes.
  package static let blockLength = 64
  /// The length of a hash, in bytes.
  package static let hashLength = 20
  /// A hash.
  package typealias Hash = InlineArray<20, UInt8>

  private var state: InlineArray<5, UInt32> = [
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0,
  ]
  /// The bytes since the last full block, as big-endian words.
  private var block = InlineArray<16, UInt32>(repeating: 0)
  /// The number of bytes absorbed.
  private var count: UInt64 = 0

  package init() {}

  /// Adds `bytes` to the hashed input.
  package mutating func absorb(_ bytes: Span<UInt8>) {
    for index in bytes.indices { absorb(bytes[index]) }
  }

  /// Adds one byte to the hashed input.
  package mutating func absorb(_ byte: UInt8) {
    let word = Int(truncatingIfNeeded: count >> 2 & 15)
    block[word] = block[word] << 8 | UInt32(byte)
    count &+= 1
    if count & 63 == 0 { mixBlock() }
  }

  /// Returns the hash of everything absorbed.
  package consuming func finish() -> Hash {
    let bits = count &* 8
    absorb(0x80)
    while count & 63 != 56 { absorb(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      absorb(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    let state = state
    return Hash { index in
      UInt8(truncatingIfNeeded: state[index >> 2] >> UInt32(24 - 8 * (index & 3)))
    }
  }

  /// Mixes the full block into the state (RFC 3174 §6.2): the words are computed in a ring of 16.
  private mutating func mixBlock() {
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for step in 0..<80 {
      if step >= 16 {
        let mixed =
          block[(step + 13) & 15] ^ block[(step + 8) & 15] ^ block[(step + 2) & 15]
          ^ block[step & 15]
        block[step & 15] = Self.rotate(mixed, 1)
      }
      let (choice, constant): (UInt32, UInt32) =
        switch step / 20 {
        case 0: (b & c | ~b & d, 0x5A82_7999)
        case 1: (b ^ c ^ d, 0x6ED9_EBA1)
        case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      let next = Self.rotate(a, 5) &+ choice &+ e &+ block[step & 15] &+ constant
      (a, b, c, d, e) = (next, a, Self.rotate(b, 30), c, d)
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word &<< count | word &>> (32 &- count)
  }
}
