// Package packfile is the file format of a packed embedding model: everything
// the service needs to run it, and everything a reader needs to know where it
// came from.
//
// Layout, little endian:
//
//	 0  8 bytes   "OMEMBED1"
//	 8  32 bytes  SHA-256 of everything that follows
//	40  4 bytes   length of the header
//	44  header    JSON, see Header
//	    sections  each at a multiple of 64 bytes from the start of the file
//
// Open checks the hash before anything else is believed, so a damaged or
// truncated pack is refused as a whole and the readers behind it need no
// defences of their own. Build is a pure function of its arguments: the same
// published weights make the same bytes, and the hash names them.
//
// Weights are signed 12-bit integers with one float32 scale per output row.
// Eight bits were tried first and are not enough: on 200 reference texts
// all-MiniLM-L6-v2 fell to a cosine of 0.9954 (mean 0.9993) with 8-bit rows,
// 0.9988 with 10 bits, and keeps 0.99996 with 12. Halves (fp16) keep as much
// and cost a third more.
//
// A pack may also be a tower: layers that share the words, positions and norm of
// another pack, named by its hash, and dense heads in float32 that tasks put on
// the last of them. A tower is opened together with the model that it was made for.
//
// The layers of a tower may have 8 bits, one behind the other in the same order: its tasks read classes, whose
// thresholds are set on what it says, and twelve layers of 8 bits say more than eight of twelve bits in as many bytes.
//
// Weights that were published in blocks of four bits (Blocks) stay what they are, for the layers, for the words, or for
// both: rounding them to another grid would lose something, and twelve bits of what has four would say nothing more.
// Blocks of layers are stored output by output. Of a large vocabulary most pieces are rare: the header may cut it into
// tiers, of which the first, the most common pieces, stay in blocks and the others are in codes of package trellis.
//
// A run of 32 weights takes 48 bytes: their 32 upper bytes, then 16 bytes with
// the low four bits of weights i and i+16 in byte i. Linear weights are stored
// in the panels of package kernel ([in/2][16 outputs][2 inputs]), so that they
// are unpacked front to back; word vectors are stored row by row.
package packfile
