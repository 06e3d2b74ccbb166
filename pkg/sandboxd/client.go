// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/klog/v2"
)

const (
	// ClaimTimeout bounds a claim and every other call that boots, stops or copies a VM.
	// A cold boot takes well under a second; the rest is a margin for a loaded node,
	// because an abandoned claim may still have made a VM.
	ClaimTimeout = 60 * time.Second
	// CallTimeout bounds every other call.
	CallTimeout = 15 * time.Second

	// maxBody bounds how much of an answer is read. An index row is about 300 bytes, so
	// this suffices for fifty thousand sandboxes.
	maxBody = 16 << 20
	// maxErrorBody bounds how much of an error's answer is drained so that the connection
	// can be reused.
	maxErrorBody = 64 << 10
	// maxRetryAfter bounds the wait that sandboxd can request, so that a wrong header
	// cannot stop a Pod for a day.
	maxRetryAfter = 5 * time.Minute
)

// Config configures a [Client].
type Config struct {
	// URL is sandboxd's base URL, http or https.
	URL string
	// Token supplies the node API token; nil sends none.
	Token TokenSource
	// Transport carries the requests; nil means a transport without a proxy, because a
	// proxy would see the tokens.
	Transport http.RoundTripper
}

// Client calls one sandboxd. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	token TokenSource
	http  *http.Client

	malformed *malformedRows
}

// NewClient checks the configuration and returns a client. Nothing is sent.
func NewClient(c Config) (*Client, error) {
	base, err := url.Parse(c.URL)
	if err != nil {
		// The parser's error would quote the URL, and a password in it.
		return nil, errors.New("the sandboxd URL is malformed: want http://host:port or https://host:port")
	}
	if base.User != nil {
		return nil, errors.New("the sandboxd URL has a user name in it: the node API token does not belong there")
	}
	if (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, fmt.Errorf("sandboxd URL %q: want http://host:port or https://host:port", c.URL)
	}
	if c.Token == nil {
		c.Token = StaticToken{}
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     90 * time.Second,
		}
	}
	return &Client{
		base:      base,
		token:     c.Token,
		malformed: &malformedRows{},
		http: &http.Client{
			Transport: c.Transport,
			// Following a redirect would send the bearer token to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// call is one request.
type call struct {
	op      string
	method  string
	path    string
	query   url.Values
	body    any
	token   *Token // nil: the node API token
	timeout time.Duration
	success int // the one status that means success; 0: any 2xx
}

// do sends c and decodes the answer into out unless out is nil. If sandboxd refuses the
// node API token, do reads it again from its source and retries once.
func (cl *Client) do(ctx context.Context, c call, out any) error {
	if c.token != nil {
		return cl.once(ctx, c, *c.token, out)
	}
	token := cl.token.Token()
	err := cl.once(ctx, c, token, out)
	if ClassOf(err) != Unauthorized {
		return err
	}
	changed, refreshErr := cl.token.Refresh(token)
	if refreshErr != nil {
		klog.FromContext(ctx).Error(refreshErr, "sandboxd refused the node API token and the token file cannot be read again")
		return err
	}
	if !changed {
		return err
	}
	klog.FromContext(ctx).Info("sandboxd refused the node API token; using the new one from the token file")
	return cl.once(ctx, c, cl.token.Token(), out)
}

func (cl *Client) once(ctx context.Context, c call, token Token, out any) error {
	if c.timeout == 0 {
		c.timeout = CallTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := cl.request(ctx, c, token)
	if err != nil {
		return err
	}
	resp, err := cl.http.Do(req)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("sandboxd did not answer", "op", c.op, "err", transportCause(err).Error())
		return &Error{Op: c.op, Class: Unreachable, cause: transportCause(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		_, _ = io.CopyN(io.Discard, resp.Body, maxErrorBody) // the status suffices
		return &Error{Op: c.op, Class: classify(resp.StatusCode), Status: resp.StatusCode, Wait: retryAfter(resp.Header)}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return &Error{Op: c.op, Class: Unreachable, cause: transportCause(err)}
	}
	if c.success != 0 && resp.StatusCode != c.success {
		return unreadable(c.op, resp.StatusCode)
	}
	if out == nil {
		return nil
	}
	if len(body) > maxBody {
		return unreadable(c.op, resp.StatusCode)
	}
	if err := json.Unmarshal(body, out); err != nil {
		// The decoder's error can quote the body, so it is left out.
		return unreadable(c.op, resp.StatusCode)
	}
	return nil
}

func (cl *Client) request(ctx context.Context, c call, token Token) (*http.Request, error) {
	var body io.Reader
	if c.body != nil {
		raw, err := json.Marshal(c.body)
		if err != nil {
			return nil, fmt.Errorf("sandboxd %s: encode the request: %w", c.op, err)
		}
		body = bytes.NewReader(raw)
	}
	target := cl.base.JoinPath(c.path)
	target.RawQuery = c.query.Encode()
	req, err := http.NewRequestWithContext(ctx, c.method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("sandboxd %s: %w", c.op, err)
	}
	if c.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if !token.Empty() {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return req, nil
}

// transportCause strips the *url.Error, which would repeat method and URL. It keeps only
// errors worded on this side: net/http quotes an answer that is not HTTP, and so could
// quote remote text.
func transportCause(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &op) || errors.As(err, &certificate) {
		return err
	}
	for _, own := range []error{context.DeadlineExceeded, context.Canceled, http.ErrSchemeMismatch, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, own) {
			return own
		}
	}
	return errBroken
}

// unreadable is the error for an answer whose body cannot be decoded.
func unreadable(op string, status int) error {
	return &Error{Op: op, Class: Unavailable, Status: status, cause: errUnreadable}
}

var (
	errUnreadable = errors.New("unreadable answer")
	errBroken     = errors.New("the connection broke, or the answer was not HTTP")
)

// retryAfter reads the delay-seconds form of Retry-After, bounded.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseInt(h.Get("Retry-After"), 10, 64)
	if err != nil || seconds <= 0 {
		return 0
	}
	if seconds > int64(maxRetryAfter/time.Second) {
		return maxRetryAfter
	}
	return time.Duration(seconds) * time.Second
}
