// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podstatus builds the status of a Pod from the claim that it holds: phase,
// conditions, container statuses and IP addresses. Everything is a pure function of its
// arguments, so two statuses of one claim are equal and are published once.
package podstatus
