package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxFolderFiles = 10_000
	maxFolderDepth = 8
)

// folder lists the files in a folder and those inside it. What begins with a full
// stop is left alone, and so are folders that are links.
func folder(name, root string) (all []target, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return err
			}
			all = append(all, target{name: name, paths: []string{path}, folder: root}) // opening it says why it cannot be read
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		hidden := path != root && strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir():
			if hidden || strings.Count(strings.TrimPrefix(path, root), string(filepath.Separator)) > maxFolderDepth {
				return fs.SkipDir
			}
			return nil
		case hidden:
			return nil
		}
		info, err := os.Stat(path) // through a link
		if err == nil && !info.Mode().IsRegular() {
			return nil
		}
		if len(all) == maxFolderFiles {
			return fmt.Errorf("more than %d files: name those that are meant", maxFolderFiles)
		}
		all = append(all, target{name: name, paths: []string{path}, folder: root})
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no file in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	return all, nil
}

// passedOver words which files of a folder are no source, and why.
func passedOver(why []string) string {
	const shown = 3
	text := fmt.Sprintf("files not read in the folder: %d: %s", len(why), strings.Join(why[:min(len(why), shown)], "; "))
	if len(why) > shown {
		text += fmt.Sprintf("; and %d more", len(why)-shown)
	}
	return text
}
