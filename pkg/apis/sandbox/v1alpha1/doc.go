// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has NodeClaimStatus, the object in which a node publishes the state of
// its claims table, for people and for `kubectl wait`. No program of this project reads
// it back or bases a decision on it: the table is the authority.
//
// A row has everything in the table about a claim except its release token, for which
// there is no field.
//
//   - Everything is status: there is nothing to wish for, so there is no spec.
//   - The list of claims is atomic: the node replaces it whole. A map list would
//     record the owner of every field of every row and double the object's size.
//     Conditions are a map list by type, as everywhere.
//   - Every text has a length limit that no value of Kubernetes or sandboxd
//     reaches. The node cuts what is longer, so that one odd row does not keep
//     the others from being published.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.cocoonstack.vk-sandbox.pkg.apis.sandbox.v1alpha1
// +groupName=sandbox.cocoonstack.io
package v1alpha1
