// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inventory publishes what the node's sandboxd runs and could deliver,
// as one NodeInventory object named after the node.
//
// Three timers drive the [Publisher]: start, a delay of at most five seconds,
// spread at random so that a fleet restarted together does not write together;
// tick, which follows one interval to one interval and a tenth after the
// cycle before it began; and the deadline of a cycle, the shorter of the
// interval and 30 seconds. What they deliver:
//
//  1. The first cycle runs soon after start, without waiting for an interval.
//     (start)
//  2. Each interval has at most one apply, and a cycle makes the same four
//     requests whatever the number of sandboxes: two reads from sandboxd, one
//     read of the Node, one apply. (tick)
//  3. A publication says what sandboxd said in that cycle, and never less than
//     the node knows: a claim of the table stays listed while sandboxd's list
//     lacks it, until it is confirmed gone. Only for such a claim is anything
//     carried over from an earlier list: its template, phase and claim time.
//     Fields of this package that someone else changed are back with the next
//     publication, whatever version the API server has of the object, and
//     fields of others stay. (tick)
//  4. A question that failed is not an empty answer: unless sandboxd answered
//     both reads and the Node was read, nothing is applied. The last good copy
//     stays, and its publishedAt shows its age. The next cycle asks again.
//     (tick)
//  5. The object is owned by the Node that has the node's name in that cycle,
//     by UID. When a Node is re-created, the new one is the owner from the next
//     cycle on, and an object that was collected with the old Node is
//     back. Nothing else removes it: not a restart, not a failed read; this
//     package has no delete. (tick)
//  6. An apply is never larger than [MaxBytes]. Entries that do not fit are left
//     out from the end, totalEntries keeps counting them, and the log says so.
//  7. The same answers give the same object, but for publishedAt: entries are
//     ordered by name and id, pools by key.
//  8. A peer that hangs costs one cycle (deadline); no failure ends [Publisher.Run].
//  9. A state is logged when it begins, not in every cycle: published, truncated,
//     failed, and failed in another way.
package inventory
