/// An RGB color with three channels, each 0 to 255.
package struct Color: Hashable, Sendable {
  /// The red channel, 0 to 255.
  package var red: UInt8
  /// The green channel, 0 to 255.
  package var green: UInt8
  /// The blue channel, 0 to 255.
  package var blue: UInt8

  /// Creates a color from its three channels.
  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Creates a color from its hexadecimal value, 0xRRGGBB.
  package init(hex: UInt32) {
    self.init(
      UInt8(truncatingIfNeeded: hex >> 16), UInt8(truncatingIfNeeded: hex >> 8),
      UInt8(truncatingIfNeeded: hex))
  }

  /// Returns this color mixed with `other`. `share` is the proportion of `other` in the mixture,
  /// from 0 to 1.
  package func mixed(with other: Color, _ share: Double) -> Color {
    // A channel has only 256 steps, and integer arithmetic keeps the frame loop fast.
    let part = Int(min(max(share, 0), 1) * 256)
    let mix = { (a: UInt8, b: UInt8) in
      UInt8(truncatingIfNeeded: (Int(a) * (256 - part) + Int(b) * part) >> 8)
    }
    return Color(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }

  /// The color's perceived brightness, 0 to 255 (ITU-R BT.601 weights).
  package var brightness: Int { (299 * Int(red) + 587 * Int(green) + 114 * Int(blue)) / 1000 }

  /// The index of the nearest of xterm's 256 colors, from the 6×6×6 cube or the 24 grays.
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
