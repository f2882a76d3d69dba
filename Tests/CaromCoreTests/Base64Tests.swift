import CaromCore
import Testing

/// Bytes as text, compared with RFC 4648 §10.
@Suite struct Base64Tests {
  private static let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]

  @Test func `the vectors of the RFC pass, with and without padding`() {
    for (length, text) in Self.texts.enumerated() {
      let bytes = Array("foobar".utf8.prefix(length))
      for (base64, text) in [(Base64.standard, text), (.url, String(text.prefix { $0 != "=" }))] {
        #expect(base64.text(of: bytes) == text && base64.length(of: length) == text.count)
        #expect(base64.bytes(of: text.utf8) == bytes)
      }
    }
    #expect(Base64.url.text(of: [0xFB, 0xFF, 0xBF]) == "-_-_")
    #expect(Base64.standard.text(of: [0xFB, 0xFF, 0xBF]) == "+/+/")
  }

  @Test func `each text has one meaning, and each meaning one text`() {
    for text in ["A", "AAAAA", "AB", "AAB", "Zg==", "+/+/", "A A", "Zh", "Zm9", "é", "AA\n"] {
      #expect(Base64.url.bytes(of: text.utf8) == nil, "\(text)")
    }
    for text in [
      "Zg", "Zg=", "Zg===", "Zm9v=", "=", "====", "Zh==", "Z===", "Zg=A", "-_-_", "é===",
    ] {
      #expect(Base64.standard.bytes(of: text.utf8) == nil, "\(text)")
    }
    for byte in UInt8.min ... .max {
      let bytes = [byte, 255 - byte, byte ^ 0x55, byte]
      for base64 in [Base64.standard, .url] {
        #expect(base64.bytes(of: base64.text(of: bytes).utf8) == bytes)
      }
    }
  }
}
