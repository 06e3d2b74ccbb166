// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

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
	LogText = "text"
	LogJSON = "json"
)

// ParseLogLevel parses a log level. A library's line of klog verbosity n has the level
// -n, so debug shows verbosity 4.
func ParseLogLevel(text string) (slog.Level, error) {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	level, ok := levels[text]
	if !ok {
		return 0, errors.New("want debug, info, warn or error")
	}
	return level, nil
}

// CheckLogFormat returns an error for an unknown format.
func CheckLogFormat(format string) error {
	if format != LogText && format != LogJSON {
		return errors.New("want text or json")
	}
	return nil
}

// SetupLogging sends every klog line at level or above to w.
func SetupLogging(level slog.Level, format string, w io.Writer) error {
	var handler slog.Handler
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case LogJSON:
		handler = slog.NewJSONHandler(w, options)
	default:
		handler = slog.NewTextHandler(w, options)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(fs)
	if err := fs.Set("v", fmt.Sprint(max(0, -int(level)))); err != nil {
		return fmt.Errorf("set the log verbosity: %w", err)
	}
	// k8s.io/component-base/cli turns it off.
	klog.EnableContextualLogging(true)
	klog.SetLoggerWithOptions(logr.FromSlogHandler(handler),
		klog.ContextualLogger(true),
		// Lines printed by klog itself have a severity that a logr logger cannot express:
		// warnings would be lost at level warn.
		klog.WriteKlogBuffer(func(line []byte) { relay(handler, line) }))
	return nil
}

// relay passes a line formatted by klog on to handler, at the line's own severity. klog's
// header has one letter, date, time, process and source, and ends with "] ".
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
	// A failed log write cannot be reported.
	_ = handler.Handle(ctx, slog.NewRecord(time.Now(), level, strings.TrimSpace(string(line)), 0))
}
