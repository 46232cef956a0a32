package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"stormwatch/capture"
	"stormwatch/capture/packet"
)

// join puts captures together that are pieces of one: files of a rotating tcpdump,
// where connections go on from one to the next, and the two directions of a tap.
// Apart, a request and its answer in two files would be two halves. Which belong
// together shows in what they hold, so that each is looked through first.
func (f *flags) join(ctx context.Context, st *streams, ins []input) ([]input, error) {
	var of []int // those that may belong to another one
	for i := range ins {
		if ins[i].piece != "" {
			of = append(of, i)
		}
	}
	if len(of) < 2 {
		return ins, nil
	}
	seen := make([]*packet.Sketch, len(ins))
	for _, i := range of {
		s, err := survey(ctx, st, ins[i].piece)
		if err != nil { // it is read as far as it goes, alone
			continue
		}
		seen[i] = s
	}
	group := groups(seen, func(i, k int) bool { return ins[i].Info().Vantage == ins[k].Info().Vantage })
	out := ins[:0:0]
	for i, in := range ins {
		var paths []string
		for k := range ins {
			if group[k] == i {
				paths = append(paths, ins[k].piece)
			}
		}
		switch {
		case group[i] != i: // its group's first has it
			if err := in.close(); err != nil {
				return ins, err
			}
		case len(paths) < 2:
			out = append(out, in)
		default:
			if err := in.close(); err != nil {
				return ins, err
			}
			joined, err := f.openPieces(ctx, st, in.Info(), paths)
			if err != nil {
				return append(out, ins[i+1:]...), err
			}
			out = append(out, joined)
		}
	}
	return out, nil
}

// groups gives each capture the first one that it belongs to, itself if none. Only
// those of one hop belong together.
func groups(seen []*packet.Sketch, oneHop func(i, k int) bool) []int {
	group := make([]int, len(seen))
	for i := range group {
		group[i] = i
	}
	for i, a := range seen {
		for k, b := range seen[:i] {
			if a == nil || b == nil || group[k] == group[i] || !oneHop(i, k) || !a.Continues(b) && !b.Continues(a) && !a.Complements(b) {
				continue
			}
			from, to := max(group[i], group[k]), min(group[i], group[k])
			for n := range group {
				if group[n] == from {
					group[n] = to
				}
			}
		}
	}
	return group
}

// survey looks through a capture.
func survey(ctx context.Context, st *streams, path string) (*packet.Sketch, error) {
	c, err := look(ctx, st, path)
	if err != nil {
		return nil, err
	}
	s, err := packet.Survey(until{ctx, c.head})
	return s, errors.Join(err, c.Close())
}

// until reads until ctx ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}

// openPieces opens captures to be read as one.
func (f *flags) openPieces(ctx context.Context, st *streams, info capture.Info, paths []string) (input, error) {
	var parts []packet.Part
	var files closers
	size := int64(0)
	for _, path := range paths {
		c, err := look(ctx, st, path)
		if err != nil {
			return input{}, errors.Join(err, files.Close())
		}
		files = append(files, c)
		parts = append(parts, packet.Part{Name: filepath.Base(path), In: c.head})
		if size += c.size; c.size == 0 { // not known
			size = -1 << 62
		}
	}
	name := fmt.Sprintf("%s and %d more", info.Name, len(paths)-1)
	src, err := packet.OpenParts(name, parts, packet.Options{Size: max(size, 0), Secrets: f.secrets, Client: f.who.Field(), Vantage: info.Vantage})
	if err != nil {
		return input{}, errors.Join(err, files.Close())
	}
	return input{Source: src, close: files.Close}, nil
}

// closers closes several.
type closers []io.Closer

// Close implements io.Closer.
func (c closers) Close() error {
	var err error
	for _, f := range c {
		err = errors.Join(err, f.Close())
	}
	return err
}
