package hostile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// packed packs the bytes with gzip.
func packed(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.DefaultCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	must(err)
	return out.Bytes()
}

// must: writing to memory does not fail.
func must(err error) {
	if err != nil {
		panic(err) //nolint:forbidigo // a bug of this package
	}
}

// deflated is the bare stream.
func deflated(data []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	must(err)
	_, err = w.Write(data)
	must(err)
	must(w.Close())
	return out.Bytes()
}

// entry is a file of an archive.
type entry struct {
	name string
	data []byte
}

// zipped is an archive of files.
func zipped(entries ...entry) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		w, err := z.Create(e.name)
		must(err)
		_, err = w.Write(e.data)
		must(err)
	}
	must(z.Close())
	return out.Bytes()
}

// overlapping is an archive of n files that are all the same bytes of it.
func overlapping(n int, name string, data []byte) []byte {
	le := binary.LittleEndian
	body, sum := deflated(data), crc32.ChecksumIEEE(data)
	head := func(signature string, fields ...uint16) []byte {
		out := []byte(signature)
		for _, v := range fields {
			out = le.AppendUint16(out, v)
		}
		return out
	}
	sizes := func(out []byte) []byte {
		out = le.AppendUint32(out, sum)
		out = le.AppendUint32(out, uint32(len(body)))
		return le.AppendUint32(out, uint32(len(data)))
	}
	out := sizes(head("PK\x03\x04", 20, 0, 8, 0, 0))
	out = append(le.AppendUint16(le.AppendUint16(out, 1), 0), 'a')
	out = append(out, body...)
	from := len(out)
	for i := range n {
		own := fmt.Sprintf(name, i)
		out = sizes(append(out, head("PK\x01\x02", 20, 20, 0, 8, 0, 0)...))
		out = le.AppendUint16(out, uint16(len(own)))
		out = append(out, make([]byte, 12)...)
		out = append(le.AppendUint32(out, 0), own...)
	}
	list := len(out) - from
	out = append(out, head("PK\x05\x06", 0, 0, uint16(n), uint16(n))...)
	out = le.AppendUint32(out, uint32(list))
	out = le.AppendUint32(out, uint32(from))
	return le.AppendUint16(out, 0)
}

// tarred is a tar archive of files.
func tarred(entries ...entry) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		must(w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.data))}))
		_, err := w.Write(e.data)
		must(err)
	}
	must(w.Close())
	return out.Bytes()
}

// sparse is a tar archive of a file that is said to be a gibibyte of holes.
func sparse(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		// The header of old GNU tar: one hole up to the end, and no data.
		h := make([]byte, 512)
		copy(h, fmt.Sprintf("hole%d.txt", i))
		copy(h[100:], "0000600\x00")
		copy(h[124:], "00000000000\x00") // nothing is stored
		copy(h[136:], "00000000000\x00")
		h[156] = 'S'
		copy(h[257:], "ustar  \x00")
		copy(h[386:], "00007777777\x00") // where the one piece of data begins, and
		copy(h[398:], "00000000000\x00") // that it is empty
		copy(h[483:], "00007777777\x00") // the size that the header claims
		copy(h[148:], "        ")
		sum := 0
		for _, c := range h {
			sum += int(c)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
		out.Write(h)
	}
	out.Write(make([]byte, 1024))
	return out.Bytes()
}

func mail(parts ...string) []byte {
	var out bytes.Buffer
	out.WriteString("From: Ann <a@x.org>\r\nTo: b@x.org\r\nSubject: Figs\r\nMIME-Version: 1.0\r\nContent-Type: " +
		"multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nFigs.\r\n")
	for _, p := range parts {
		out.WriteString("--b\r\n" + p + "\r\n")
	}
	out.WriteString("--b--\r\n")
	return out.Bytes()
}

func attached(name string, data []byte) string {
	return "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=" + name +
		"\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString(data)
}

// full is a text that is nearly as long as what may be unpacked.
func full() []byte { return repeat(words, 64*mib-100) }

// archives are compressed files and archives, within each other and over each other.
func archives() []File {
	return []File{
		{Name: "gzip.txt.gz", Make: func() []byte { return packed(full()) }},
		{Name: "gzip of gzip.gz", Make: func() []byte { return packed(packed(full())) }},
		{Name: "four gzips.gz", Make: func() []byte { return packed(packed(packed(packed(full())))) }},
		{Name: "zeros.gz", Make: func() []byte { return packed(packed(make([]byte, 64*mib-100))) }},
		{Name: "gzip in 64 MiB.gz", Make: func() []byte {
			inner := packed(full())
			return packed(append(inner, make([]byte, 60*mib-len(inner))...)) // what follows a member is passed over
		}},
		{Name: "chain.zip", Make: func() []byte { // each archive is nearly as large as what may be unpacked
			data := full()
			for i := range 4 {
				data = zipped(entry{"a.zip", data}, entry{"pad.bin", make([]byte, 40*mib)},
					entry{fmt.Sprint(i, ".txt"), repeat(words, mib)})
			}
			return data
		}},
		{Name: "stored chain.zip", Make: func() []byte { // as the one before, with the outer ones not packed smaller
			data := stored(entry{"a.txt", full()})
			for range 3 {
				data = stored(entry{"a.zip", data})
			}
			return packed(data)
		}},
		{Name: "overlapping.zip", Make: func() []byte { return overlapping(1000, "%d.txt", repeat(words, 60*mib)) }},
		{Name: "overlapping small.zip", Make: func() []byte { return overlapping(50_000, "%d.txt", repeat(words, 10_000)) }},
		{
			Name: "overlapping csv.zip",
			Make: func() []byte { return overlapping(100, "%d.csv", append([]byte("a,b\n"), repeat(",", 60*mib)...)) },
		},
		{Name: "overlapping pdf.zip", Make: func() []byte { return overlapping(100, "%d.pdf", manyObjects(1_000_000)) }},
		{
			Name: "overlapping html.zip",
			Make: func() []byte { return overlapping(100, "%d.html", append([]byte("<html><p "), repeat("a ", 7*mib)...)) },
		},
		{
			Name: "names.zip",
			Make: func() []byte { return overlapping(60_000, strings.Repeat("d/", 200)+"%d.txt", []byte("Figs")) },
		},
		{Name: "zip of zips.zip", Make: func() []byte {
			inner := zipped(entry{"a.txt", full()})
			var all []entry
			for i := range 100 {
				all = append(all, entry{fmt.Sprintf("%d.zip", i), inner})
			}
			return zipped(all...)
		}},
		{Name: "quine.gz", Make: func() []byte {
			data := packed(full())
			for range 12 {
				data = packed(data)
			}
			return data
		}},
		{Name: "tar.tgz", Make: func() []byte {
			return packed(tarred(entry{"a.txt", repeat(words, 30*mib)}, entry{"b.txt", repeat(words, 30*mib)}))
		}},
		{Name: "sparse.tar", Make: func() []byte { return sparse(1000) }},
		{Name: "sparse.tgz", Make: func() []byte { return packed(sparse(100_000)) }},
		{Name: "headers.tgz", Make: func() []byte {
			var all []entry
			for i := range 50_000 {
				all = append(all, entry{fmt.Sprintf("%d.txt", i), nil})
			}
			return packed(tarred(all...))
		}},
	}
}

// mails are messages and mailboxes.
func mails() []File {
	large := func(name string, f func() []byte) File { return File{Name: name, Make: f, Large: true} }
	return []File{
		{Name: "attached bombs.eml", Make: func() []byte {
			bomb := attached("a.gz", packed(full()))
			parts := make([]string, 100)
			for i := range parts {
				parts[i] = bomb
			}
			return mail(parts...)
		}},
		{Name: "attached.eml.gz", Make: func() []byte {
			return packed(mail(attached("a.zip", stored(entry{"a.txt", repeat(words, 44*mib)}))))
		}},
		{Name: "mailbox.mbox.gz", Make: func() []byte {
			one := "From a@x.org Tue May  5 10:00:00 2026\n" +
				string(mail(attached("a.txt", []byte("Figs")), attached("b.txt", []byte("Plums")))) + "\n"
			return packed(repeat(one, 60*mib))
		}},
		{Name: "bombs.mbox", Make: func() []byte {
			one := "From a@x.org Tue May  5 10:00:00 2026\n" + string(mail(attached("a.gz", packed(packed(full()))))) + "\n"
			return repeat(one, 2*mib)
		}},
		{Name: "forwarded.eml", Make: func() []byte {
			data := string(mail())
			for range 14 {
				data = string(mail("Content-Type: message/rfc822\r\n\r\n"+data, "Content-Type: message/rfc822\r\n\r\n"+data))
			}
			return []byte(data)
		}},
		large("parts.eml", func() []byte {
			return append([]byte("From: a@x.org\r\nTo: b@x.org\r\nSubject: a\r\nContent-Type: multipart/mixed; "+
				"boundary=b\r\n\r\n"), repeat("--b\r\n\r\na\r\n", largest)...)
		}),
		large("quoted.eml", func() []byte {
			return append([]byte("From: a@x.org\r\nTo: b@x.org\r\nSubject: a\r\nContent-Transfer-Encoding: "+
				"quoted-printable\r\n\r\n"), repeat("\x01", largest)...)
		}),
	}
}

// stored is an archive whose files are not packed.
func stored(entries ...entry) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Store})
		must(err)
		_, err = w.Write(e.data)
		must(err)
	}
	must(z.Close())
	return out.Bytes()
}
