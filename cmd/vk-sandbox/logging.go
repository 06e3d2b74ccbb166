// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Log formats.
const (
	formatText = "text"
	formatJSON = "json"
)

// debugVerbosity is the klog verbosity of the debug level; in slog's numbers it
// is the level itself.
const debugVerbosity = -int(slog.LevelDebug)

// parseLogLevel reads VK_LOG_LEVEL.
func parseLogLevel(s string) (slog.Level, error) {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	level, ok := levels[s]
	if !ok {
		return 0, errors.New("want debug, info, warn or error")
	}
	return level, nil
}

func parseLogFormat(s string) (string, error) {
	if s != formatText && s != formatJSON {
		return "", errors.New("want text or json")
	}
	return s, nil
}

// setupLogging sends everything that is logged through klog to w.
func setupLogging(level slog.Level, format string, w io.Writer) error {
	var handler slog.Handler
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case formatJSON:
		handler = slog.NewJSONHandler(w, options)
	default:
		handler = slog.NewTextHandler(w, options)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(fs)
	verbosity := 0
	if level <= slog.LevelDebug {
		verbosity = debugVerbosity
	}
	if err := fs.Set("v", fmt.Sprint(verbosity)); err != nil {
		return fmt.Errorf("set the log verbosity: %w", err)
	}
	klog.SetLoggerWithOptions(logr.FromSlogHandler(handler),
		klog.ContextualLogger(true),
		// Libraries that print through klog give a severity that a logr
		// logger cannot carry: their warnings would be lost at level warn.
		klog.WriteKlogBuffer(func(line []byte) { relay(handler, line) }))
	return nil
}

// relay hands a line that klog has formatted on to handler, at the line's own
// severity. klog puts a header of one letter, date, time, process and source in
// front, which ends with "] ".
func relay(handler slog.Handler, line []byte) {
	level := slog.LevelInfo
	if len(line) > 0 {
		switch line[0] {
		case 'W':
			level = slog.LevelWarn
		case 'E', 'F':
			level = slog.LevelError
		}
	}
	ctx := context.Background()
	if !handler.Enabled(ctx, level) {
		return
	}
	if _, message, found := bytes.Cut(line, []byte("] ")); found {
		line = message
	}
	// There is nowhere to report that the log cannot be written.
	_ = handler.Handle(ctx, slog.NewRecord(time.Now(), level, strings.TrimSpace(string(line)), 0))
}
