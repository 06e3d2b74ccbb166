// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

// logEverything logs one line of every kind there is.
func logEverything(ctx context.Context) {
	logger := klog.FromContext(ctx)
	logger.V(4).Info("our debug")
	logger.Info("our info", "pod", klog.KRef("ns", "name"))
	logger.Error(errors.New("cause"), "our error")
	klog.V(4).Info("library debug")
	klog.Infof("library %s", "info")
	klog.Warning("library ", "warning")
	klog.Errorf("library %s", "error")
	klog.Flush()
}

func TestLogLevels(t *testing.T) {
	all := []string{"our debug", "library debug", "our info", "library info", "library warning", "our error", "library error"}
	for level, from := range map[string]int{"debug": 0, "info": 2, "warn": 4, "error": 5} {
		for _, format := range []string{LogText, LogJSON} {
			t.Run(level+" as "+format, func(t *testing.T) {
				t.Cleanup(klog.ClearLogger)
				parsed, err := ParseLogLevel(level)
				if err != nil {
					t.Fatal(err)
				}
				var out bytes.Buffer
				if err := SetupLogging(parsed, format, &out); err != nil {
					t.Fatal(err)
				}
				logEverything(t.Context())
				for i, message := range all {
					if got := strings.Contains(out.String(), message); got != (i >= from) {
						t.Errorf("%q is logged: %v", message, got)
					}
				}
			})
		}
	}
}

func TestLogsAreStructured(t *testing.T) {
	t.Cleanup(klog.ClearLogger)
	var out bytes.Buffer
	if err := SetupLogging(slog.LevelInfo, LogJSON, &out); err != nil {
		t.Fatal(err)
	}
	logEverything(t.Context())
	levels := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var record struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q is not JSON: %v", line, err)
		}
		levels[record.Msg] = record.Level
	}
	for message, level := range map[string]string{
		"our info": "INFO", "our error": "ERROR", "library info": "INFO",
		"library warning": "WARN", "library error": "ERROR",
	} {
		if levels[message] != level {
			t.Errorf("%q has level %q, want %s; logged were %v", message, levels[message], level, levels)
		}
	}
	if !strings.Contains(out.String(), `"pod":{"name":"name","namespace":"ns"}`) {
		t.Errorf("a key was lost:\n%s", &out)
	}
}
