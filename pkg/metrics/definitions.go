// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

// define registers the counters and histograms, and describes what is read at
// a scrape.
func (m *Metrics) define() {
	operations := map[string][]string{labelOperation: operationValues(), labelResult: resultValues()}
	m.requests = m.counter(Family{
		Name: "sandboxd_requests_total", Labels: []string{labelOperation, labelResult}, Values: operations,
		Help: "Requests to sandboxd by operation and result. A claim that succeeds made a microVM, a release that succeeds destroyed one.",
	})
	m.requestDuration = m.histogram(Family{
		Name: "sandboxd_request_duration_seconds", Labels: []string{labelOperation}, Values: operations,
		Help: "How long sandboxd took to answer, or the daemon to give up.",
	}, callBuckets())
	verbs := map[string][]string{labelOperation: verbValues(), labelResult: resultValues()}
	m.podOperations = m.counter(Family{
		Name: "pod_operations_total", Labels: []string{labelOperation, labelResult}, Values: verbs,
		Help: "Attempts to serve, update or settle a Pod. One that fails is repeated.",
	})
	m.podDuration = m.histogram(Family{
		Name: "pod_operation_duration_seconds", Labels: []string{labelOperation}, Values: verbs,
		Help: "How long such an attempt took, with its requests to sandboxd and the write of the claims table.",
	}, callBuckets())
	outcomes := map[string][]string{labelResult: outcomeValues(), labelObject: objectValues()}
	m.writes = m.counter(Family{
		Name: "claims_table_writes_total", Labels: []string{labelResult}, Values: outcomes,
		Help: "Durable writes of the claims table. Changes that happen together share one.",
	})
	m.writeDuration = m.histogram(Family{
		Name: "claims_table_write_duration_seconds", Labels: []string{},
		Help: "How long a write of the claims table took until it was durable or had failed.",
	}, writeBuckets())
	m.verdicts = m.counter(Family{
		Name: "owner_verdicts_total", Labels: []string{labelVerdict, labelCause},
		Values: map[string][]string{labelVerdict: {verdictRelease, verdictPreserve}, labelCause: causeValues()},
		Help:   "Verdicts on whether a microVM may be destroyed, by what was read of its owner.",
	})
	m.publications = m.counter(Family{
		Name: "publications_total", Labels: []string{labelObject, labelResult}, Values: outcomes,
		Help: "Attempts to bring an object about this node up to date in the API.",
	})
	m.lastPublication = m.gauge(Family{
		Name: "last_publication_timestamp_seconds", Labels: []string{labelObject}, Values: outcomes,
		Help: "When the object about this node was last known to be up to date in the API; 0 before the first time.",
	})
	m.defineRead()
}

// defineRead describes what is read at a scrape.
func (m *Metrics) defineRead() {
	m.claims = m.read(Family{
		Name: "claims", Labels: []string{labelState}, Values: map[string][]string{labelState: stateValues()},
		Help: "Claims in the table by state.",
	})
	m.held = m.read(Family{
		Name: "claims_held",
		Help: "Claims that are kept because several Pods and owners went missing together and no deletion was seen.",
	})
	m.durable = m.read(Family{
		Name: "claims_table_durable",
		Help: "1 while the file of the claims table has all that memory has, 0 after a write that failed.",
	})
	m.accepted = m.read(Family{
		Name: "claims_table_accepted",
		Help: "1 if the claims table belongs to this cluster and host, 0 if it belongs elsewhere and nothing is claimed, released or published. Absent until the cluster's identity has been read.",
	})
	m.reachable = m.read(Family{
		Name: "sandboxd_reachable",
		Help: "1 if sandboxd answered the last health check and took the credential, else 0.",
	})
	m.findings = m.read(Family{
		Name: "orphan_scan_findings", Labels: []string{labelFinding}, Values: map[string][]string{labelFinding: findingValues()},
		Help: "Sandboxes and claims that the last orphan scan reported. Absent without the scan.",
	})
	m.lastScan = m.read(Family{
		Name: "orphan_scan_last_success_timestamp_seconds",
		Help: "When the orphan scan last compared sandboxd's index with the claims table. Absent without the scan.",
	})
	m.queueDepth = m.read(Family{
		Name: "queue_depth", Labels: []string{labelQueue}, Values: map[string][]string{labelQueue: queueValues()},
		Help: "Pods that wait in a queue or are in work; those that wait for their next attempt are among them.",
	})
}

// startAtZero makes every counter visible before its first event, so that the
// first one is an increase.
func (m *Metrics) startAtZero() {
	for _, result := range resultValues() {
		for _, operation := range operationValues() {
			m.requests.WithLabelValues(operation, result)
		}
		for _, verb := range verbValues() {
			m.podOperations.WithLabelValues(verb, result)
		}
	}
	for _, operation := range operationValues() {
		m.requestDuration.WithLabelValues(operation)
	}
	for _, verb := range verbValues() {
		m.podDuration.WithLabelValues(verb)
	}
	for _, outcome := range outcomeValues() {
		m.writes.WithLabelValues(outcome)
	}
	m.writeDuration.WithLabelValues()
	for _, cause := range causeValues() {
		m.verdicts.WithLabelValues(verdictOf(cause), cause)
	}
}
