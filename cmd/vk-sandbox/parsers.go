// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

func parseText(s string) (string, error) { return s, nil }

func parseBool(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return b, nil
}

// parseNodeName wants a name for the Node that also fits its hostname label.
func parseNodeName(s string) (string, error) {
	problems := validation.IsDNS1123Subdomain(s)
	if len(s) > validation.LabelValueMaxLength {
		problems = append(problems, fmt.Sprintf("the node's kubernetes.io/hostname label takes at most %d characters and this name has %d",
			validation.LabelValueMaxLength, len(s)))
	}
	return s, joined(problems)
}

func parseNamespace(s string) (string, error) {
	return s, joined(validation.IsDNS1123Label(s))
}

// parseOwnerPod reads a Pod's name and UID. The empty text is no Pod.
func parseOwnerPod(s string) (*metav1.OwnerReference, error) {
	if s == "" {
		return nil, nil
	}
	name, uid, found := strings.Cut(s, "/")
	if !found || name == "" || uid == "" {
		return nil, errors.New("want a Pod's name and UID as name/uid")
	}
	return &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID(uid)}, nil
}

func parseIP(s string) (net.IP, error) {
	if s == "" {
		return nil, nil
	}
	ip := net.ParseIP(s)
	if ip == nil {
		return nil, errors.New("want an IP address such as 192.0.2.7 or 2001:db8::7")
	}
	if ip.IsUnspecified() {
		return nil, errors.New("the unspecified address reaches nobody; want the host's own")
	}
	return ip, nil
}

func parseQuantity(s string) (resource.Quantity, error) {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return q, errors.New("want a Kubernetes quantity such as 4000, 500m or 8Ti")
	}
	if q.Sign() <= 0 {
		return q, errors.New("must be above zero: the scheduler rejects every Pod on a node without capacity")
	}
	return q, nil
}

func parseWholeQuantity(s string) (resource.Quantity, error) {
	q, err := parseQuantity(s)
	// Value rounds up.
	if err == nil && q.CmpInt64(q.Value()) != 0 {
		err = errors.New("must be a whole number")
	}
	return q, err
}

// parseLabels reads key=value pairs separated by commas.
func parseLabels(s string) (map[string]string, error) {
	labels := map[string]string{}
	if s == "" {
		return labels, nil
	}
	for _, pair := range strings.Split(s, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found {
			return nil, fmt.Errorf("%q is not key=value", pair)
		}
		if err := joined(validation.IsQualifiedName(key)); err != nil {
			return nil, fmt.Errorf("label key %q: %w", key, err)
		}
		if err := joined(validation.IsValidLabelValue(value)); err != nil {
			return nil, fmt.Errorf("value %q of label %s: %w", value, key, err)
		}
		if other, twice := labels[key]; twice && other != value {
			return nil, fmt.Errorf("label %s is given twice, as %q and %q", key, other, value)
		}
		labels[key] = value
	}
	return labels, nil
}

func parseListenAddr(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", errors.New("want [host]:port, such as :10260 or 192.0.2.7:10260")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("port %q is not a number from 0 to 65535", port)
	}
	return s, nil
}

// parseMetricsAddr returns the empty address for none.
func parseMetricsAddr(s string) (string, error) {
	if s == "" || s == "0" {
		return "", nil
	}
	return parseListenAddr(s)
}

func parseAdvertiseAddr(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return "", errors.New("want host:port, such as 192.0.2.7:7777")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return s, nil
}

// parseURL wants a base URL that carries no secret: it is logged.
func parseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("want http://host:port or https://host:port")
	case u.User != nil:
		return "", errors.New("must not carry credentials; the token belongs in --sandboxd-token-file")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("is a base URL and takes no query or fragment")
	}
	return s, nil
}

// hostPort is the host:port of a URL that parseURL has passed.
func hostPort(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func parseStatePath(s string) (string, error) {
	if s == "" {
		return "", errors.New("a path is required: without a durable claims table every restart would leak a microVM per claim")
	}
	return s, nil
}

func parseInterval(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New("want a duration such as 30s or 5m")
	}
	if d < 0 {
		return 0, errors.New("must not be negative")
	}
	return d, nil
}

func parsePositiveInterval(s string) (time.Duration, error) {
	d, err := parseInterval(s)
	if err == nil && d == 0 {
		err = errors.New("must be above zero")
	}
	return d, err
}

func parseRate(s string) (float64, error) {
	rate, err := strconv.ParseFloat(s, 32)
	if err != nil || math.IsNaN(rate) || math.IsInf(rate, 0) {
		return 0, errors.New("want a number of requests per second")
	}
	if rate <= 0 {
		return 0, errors.New("must be above zero")
	}
	return rate, nil
}

func parseBurst(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, errors.New("want a whole number of requests")
	}
	if n <= 0 {
		return 0, errors.New("must be above zero")
	}
	return int(n), nil
}

// joined makes one error of what apimachinery's validation found.
func joined(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}
