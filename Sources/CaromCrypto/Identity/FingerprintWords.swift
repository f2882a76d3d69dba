extension Fingerprint {
  /// The 256 words, in alphabetical order; each stands for the byte that is its index.
  ///
  /// They are chosen to be told apart when they are read aloud or typed: no two begin with the same
  /// three letters, and at least three letters must change to turn one into another.
  static let words: [Substring] = """
    acorn agent airport alarm alpine amber anchor ankle anthem apron artist aspen atlas attic
    autumn avenue badge bakery balloon bamboo banjo barrel basin beacon beetle bench berry
    bicycle bishop blanket blossom bobcat bonfire border bronze bucket buffalo bugle butter
    cactus camel canyon carpet castle cedar cello century chimney cinema circus clover cobra
    coffee comrade concert copper cosmos cotton cowboy cradle cricket crystal cuckoo curtain
    custard cyclone daisy dancer delta denim desert diamond diesel dolphin domino donkey dragon
    drummer dune earth echo eclipse elbow elder eleven emerald engine envoy fabric falcon farmer
    feather fiddle fiesta flannel flute forest fossil freckle furnace galaxy garden gazelle giant
    ginger glacier gondola gorilla gravel guitar gymnast habit hammock harbor helmet hexagon
    hickory hippo holiday hornet hotel hurdle iceberg igloo iguana indigo inlet island ivory
    jaguar jasmine jester jigsaw journal jukebox juniper kayak kernel ketchup kingdom kitten
    knuckle koala ladder lagoon lantern lemon leopard library lilac linen lizard lobster lotus
    lyric magnet maple meadow melody mentor mirror mosaic muffin museum napkin nephew nickel
    noodle nugget nutmeg ocean octopus olive onion opera orange orchid osprey palace panda parrot
    pebble pelican pencil pianist picnic pigeon pillow pirate pollen pony potato prairie prism
    pumpkin puppet puzzle python quarry quilt recipe relic ribbon river robin rowboat rubber
    rustic saturn savanna scarf school signal sketch slipper snail spider squid stable sugar
    summit swallow syrup tavern teapot temple thistle thunder toast topaz torch tractor trumpet
    tulip tunnel tuxedo typist unicorn valley vanilla vessel violin visitor volcano vulture
    waffle walnut watch whale window wolf wreath yacht yogurt zephyr zodiac
    """.split { $0 == " " || $0 == "\n" }
}
