// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"context"
	"fmt"
	"io"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Samples are the daemon's metrics at one moment.
type Samples map[string]*dto.MetricFamily

// Metrics reads /metrics.
func (d *Daemon) Metrics(ctx context.Context) (Samples, error) {
	body, err := d.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(body)
}

// Ready asks /readyz.
func (d *Daemon) Ready(ctx context.Context) error {
	body, err := d.get(ctx, "/readyz")
	if err != nil {
		return err
	}
	return body.Close()
}

func (d *Daemon) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.metricsAddr+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", path, answer.Status)
	}
	return answer.Body, nil
}

// Value is the sum of a metric's series that have the label.
func (s Samples) Value(name, label, value string) (sum float64) {
	for _, m := range s[name].GetMetric() {
		for _, pair := range m.GetLabel() {
			if pair.GetName() == label && pair.GetValue() == value {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// Sum is that of all series of a metric.
func (s Samples) Sum(name string) (sum float64) {
	for _, m := range s[name].GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return sum
}
