// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has NodeInventory, the one object in which a node says what
// its sandboxd runs. The operator's aggregated API server builds
// `kubectl get sandboxes` from these objects.
//
// The operator's module, where the kind is at home, is not available to this
// project. The contract names the kind, its group and version, that there is
// one object per node, named after the node, and these parts: entries with
// name, ID, phase and address; Address; Pools with warm and target counts; and
// the publishedAt stamp. Everything else is this project's reading, and the
// first thing to compare when the operator's module can be had:
//
//   - The parts are top-level fields, as in metrics.k8s.io. With a status
//     subresource one publication would take two requests, and the contract
//     has one apply (architecture).
//   - JSON names are the contract's words in lower camel case.
//   - A pool's key is an object {template, net, size}, as sandboxd writes it.
//   - An entry's name is the whole claim_ref, <namespace>/<name>, because the
//     picture in the architecture says "name = claim_ref" and the API server
//     has to find the namespace somewhere. There is no second field with the
//     same text, which would nearly double a full object.
//   - An entry has template, claimedAt and deadline, because the API server
//     serves all three for a sandbox that it did not claim itself
//     (operator API).
//   - totalEntries and totalWarm are additions. The first tells a reader that
//     entries were left out to stay below the size limit of a stored object;
//     both give kubectl a column, which cannot count a list.
//   - Both lists are atomic: the node replaces them whole. A map list would
//     record the owner of every field of every entry and double the object's
//     size, and pool keys could not be list keys, being objects.
//   - No field has a length or item limit that sandboxd's data could break:
//     one odd row must not keep the others from being published.
//
// An API server refuses an apply with a field that its CRD does not declare, so
// the additions need the CRD generated from this package.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.cocoonstack.vk-sandbox.pkg.apis.sandbox.v1beta1
// +groupName=sandbox.cocoonstack.io
package v1beta1
