// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 has NodeInventory, the one object in which a node says what
// its sandboxd runs. The operator's aggregated API server builds
// `kubectl get sandboxes` from these objects.
//
// The operator's module, where the kind is at home, is not available to this
// project. The names on the wire are the operator's:
//
//   - All fields are at the top level. With a status subresource one publication
//     would take two requests in place of one apply.
//   - A pool is flat: template, net, size, warm, target. An operator that finds
//     another shape sees no pool key and no warm capacity.
//   - An entry's name is the whole claim_ref, <namespace>/<name>, else the id;
//     claimRef has the claim_ref alone, and addr the address.
//   - metadata, cpuCount, memoryBytes and templates are optional; this project's
//     node agent does not know them and leaves them out.
//
// The rest is this project's choice:
//
//   - The first builds published pools[].key and entries[].address. The schema
//     still takes both, so that objects they left stay valid and their daemons
//     can publish while an upgrade rolls through the nodes. The first apply of a
//     newer daemon replaces both lists whole, and with them the old fields.
//     Readers take either shape (package inventory has them).
//   - totalEntries and totalWarm are additions. The first tells a reader that
//     entries were left out to stay below the size limit of a stored object;
//     both give kubectl a column, which cannot count a list.
//   - The lists are atomic: the node replaces them whole. A map list would
//     record the owner of every field of every entry and double the object's
//     size.
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
