/// A colour as screens have it: three channels, 0 to 255.
package struct Color: Hashable, Sendable {
  /// The red channel.
  package var red: UInt8
  /// The green channel.
  package var green: UInt8
  /// The blue channel.
  package var blue: UInt8

  /// The colour of these channels.
  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// The colour written as 0xRRGGBB.
  package init(hex: UInt32) {
    self.init(
      UInt8(truncatingIfNeeded: hex >> 16), UInt8(truncatingIfNeeded: hex >> 8),
      UInt8(truncatingIfNeeded: hex))
  }

  /// This colour with `other` laid over it at `share`, 0 (none of it) to 1 (all of it).
  package func mixed(with other: Color, _ share: Double) -> Color {
    // 256 steps are all that a channel has, and whole numbers keep the frame loop quick.
    let part = Int(min(max(share, 0), 1) * 256)
    let mix = { (a: UInt8, b: UInt8) in
      UInt8(truncatingIfNeeded: (Int(a) * (256 - part) + Int(b) * part) >> 8)
    }
    return Color(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }

  /// How bright it looks, 0 to 255 (ITU-R BT.601 weights).
  package var brightness: Int { (299 * Int(red) + 587 * Int(green) + 114 * Int(blue)) / 1000 }

  /// The nearest of the 256 colours of older terminals: the 6×6×6 cube or the 24 greys.
  package var paletteIndex: UInt8 {
    let level = { (channel: UInt8) in
      channel < 48 ? 0 : channel < 115 ? 1 : (Int(channel) - 35) / 40
    }
    let (r, g, b) = (level(red), level(green), level(blue))
    let cube = 16 + 36 * r + 6 * g + b
    let value = { (level: Int) in level == 0 ? 0 : 55 + 40 * level }
    let grey = min(max((brightness - 3) / 10, 0), 23)
    let cubeError = distance(value(r), value(g), value(b))
    let greyError = distance(8 + 10 * grey, 8 + 10 * grey, 8 + 10 * grey)
    return UInt8(greyError < cubeError ? 232 + grey : cube)
  }

  private func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
    let (dr, dg, db) = (Int(red) - r, Int(green) - g, Int(blue) - b)
    return dr * dr + dg * dg + db * db
  }
}
