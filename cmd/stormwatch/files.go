package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stormwatch/capture/accesslog"
)

// target is what one source is read from: one thing, or the files of a rotated
// log, the oldest first.
type target struct {
	name   string // as the user gave it; "" where it is called by its file
	paths  []string
	folder string // the one it was found in; "" where it was named itself
}

// called is the name of the source.
func (t *target) called() string {
	path := t.last()
	switch {
	case t.name != "" && t.folder == "":
		return t.name
	case path == "-":
		return "stdin"
	case t.folder == "":
		return filepath.Base(path)
	}
	inside, err := filepath.Rel(t.folder, path)
	if err != nil {
		inside = filepath.Base(path)
	}
	if inside = filepath.ToSlash(inside); t.name != "" {
		return t.name + "/" + inside
	}
	return inside
}

// last is the file that is written to last, if any still is.
func (t *target) last() string { return t.paths[len(t.paths)-1] }

// vantage is the name the source was given, or its kind: sources of one kind
// without names are taken for one hop.
func (t *target) vantage(kind string) string {
	if t.name != "" {
		return t.name
	}
	return kind
}

// calls tells whether a flag that names a source means this one: by its name, or by
// the part of it before a slash, as a host's folder is called.
func calls(flag, source string) bool {
	return flag == source || strings.HasPrefix(source, flag+"/")
}

// targets finds the files that patterns and folders mean, puts rotated logs in
// the order in which they were written, and makes one source of each set of them.
func targets(args []string) (all []target, err error) {
	for _, arg := range args {
		name, path := split(arg)
		found := []target{{name: name, paths: []string{path}}}
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			if found, err = folder(name, path); err != nil {
				return nil, err
			}
		case err != nil && strings.ContainsAny(path, "*?[") && !strings.Contains(path, "://"):
			files, err := filepath.Glob(path)
			if err == nil && len(files) == 0 {
				err = os.ErrNotExist
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			found = found[:0]
			for _, f := range files {
				if info, err := os.Stat(f); err == nil && info.IsDir() {
					inside, err := folder(name, f)
					if err != nil {
						return nil, err
					}
					found = append(found, inside...)
					continue
				}
				found = append(found, target{name: name, paths: []string{f}})
			}
		}
		all = append(all, found...)
	}
	return sets(all), nil
}

// sets joins the files of each rotated log. A log stands where the first of its
// files was named.
func sets(all []target) (out []target) {
	type key struct{ name, folder string }
	places := map[key][]int{}
	var keys []key
	for i := range all {
		k := key{all[i].name, all[i].folder}
		if places[k] == nil {
			keys = append(keys, k)
		}
		places[k] = append(places[k], i)
	}
	type placed struct {
		at int
		t  target
	}
	var list []placed
	for _, k := range keys {
		var paths []string
		for _, i := range places[k] {
			paths = append(paths, all[i].paths...)
		}
		next := 0
		for _, set := range accesslog.Sets(paths) {
			list = append(list, placed{places[k][min(next, len(places[k])-1)], target{k.name, set, k.folder}})
			next += len(set)
		}
	}
	for len(list) > 0 { // in the order of their places; there are few
		first := 0
		for i := range list {
			if list[i].at < list[first].at {
				first = i
			}
		}
		out = append(out, list[first].t)
		list = append(list[:first], list[first+1:]...)
	}
	return out
}
