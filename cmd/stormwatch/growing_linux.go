package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// beingWritten asks for a read lease, which the kernel refuses while somebody
// has the file open for writing (fcntl(2), F_SETLEASE). Owners and root only may
// ask.
func beingWritten(f *os.File) (writing, known bool) {
	fd := f.Fd()
	_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		return false, err == nil
	}
	return errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EAGAIN)
}
