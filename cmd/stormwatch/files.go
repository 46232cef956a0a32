package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stormwatch/capture/accesslog"
)

// expand finds the files that patterns mean, where no shell has done so, and
// puts rotated logs in the order in which they were written.
func expand(args []string) ([]string, error) {
	var all []string
	for _, arg := range args {
		name, path := split(arg)
		files := []string{path}
		if _, err := os.Lstat(path); err != nil && strings.ContainsAny(path, "*?[") && !strings.Contains(path, "://") {
			found, err := filepath.Glob(path)
			if err == nil && len(found) == 0 {
				err = os.ErrNotExist
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			files = found
		}
		for _, f := range files {
			if name != "" {
				f = name + "=" + f
			}
			all = append(all, f)
		}
	}
	return inOrder(all), nil
}

// inOrder orders the files that have the same name, or none.
func inOrder(args []string) []string {
	var names []string
	byName := map[string][]string{}
	for _, arg := range args {
		name, path := split(arg)
		if _, ok := byName[name]; !ok {
			names = append(names, name)
		}
		byName[name] = append(byName[name], path)
	}
	ordered := map[string][]string{}
	for _, n := range names {
		ordered[n] = accesslog.Order(byName[n])
	}
	var out []string
	for _, arg := range args { // the names stay where they were
		name, _ := split(arg)
		rest := ordered[name]
		if len(rest) == 0 {
			continue // named twice
		}
		ordered[name] = rest[1:]
		if name != "" {
			out = append(out, name+"="+rest[0])
		} else {
			out = append(out, rest[0])
		}
	}
	return out
}
