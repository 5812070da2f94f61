import { afterAll, beforeAll, describe } from '@jest/globals';

import type { ClusterKind, PresentKind } from './cluster-kind.ts';
import type { Cluster, ClusterCapabilities } from './cluster.ts';
import { envtestKind } from './envtest-kind.ts';
import { existingKind } from './existing-kind.ts';
import { FAKE_KIND } from './fake-kind.ts';
import { k3sKind } from './k3s-kind.ts';

/** Longer than any of them takes to start: a container image may have to be fetched first. */
const START_TIMEOUT_MS = 300_000;

const KINDS: readonly ClusterKind[] = [
  FAKE_KIND,
  envtestKind(),
  await k3sKind(),
  await existingKind(),
];
const PRESENT: readonly PresentKind[] = KINDS.flatMap((kind) => ('absence' in kind ? [] : [kind]));

refuseAbsence(process.env['REQUIRE_CLUSTER'] ?? '');
warnOfAbsence();
afterAll(async () => {
  await Promise.all(PRESENT.map(async ({ close }) => await close()));
});

/**
 * `describe` once for each kind of API server that is there and has the capabilities that the tests
 * need. It is there or not:
 *
 * - `fake`: always.
 * - `envtest`: where kube-apiserver and etcd are found; see `findBinaries`.
 * - `k3s`: where a container engine answers.
 * - `existing`: where USE_EXISTING_CLUSTER is `true`.
 *
 * What is missing is said and skipped; kinds in REQUIRE_CLUSTER (`envtest,k3s`) must not be.
 *
 * `openCluster` is for one user at a time, in a hook or in a test. The real servers start once a
 * file. All but `existing` are then empty but for our definitions, and disposing of the cluster
 * makes it so again.
 */
export function describeWithClusters(
  needs: readonly (keyof ClusterCapabilities)[],
  title: string,
  suite: (openCluster: () => Promise<Cluster>, kind: Cluster['kind']) => void,
): void {
  for (const { kind, capabilities, start, open } of PRESENT) {
    const lacking = needs.filter((need) => !capabilities[need]);
    if (lacking.length > 0)
      console.warn(`skipped on ${kind}, for it lacks ${lacking.join(', ')}: ${title}`);
    (lacking.length > 0 ? describe.skip : describe)(`${title} (${kind})`, () => {
      beforeAll(start, START_TIMEOUT_MS);
      suite(open, kind);
    });
  }
}

function refuseAbsence(required: string): void {
  for (const name of required.split(',').filter((part) => part !== '')) {
    const kind = KINDS.find((candidate) => candidate.kind === name);
    if (kind === undefined) throw new Error(`REQUIRE_CLUSTER: there is no kind ${name}`);
    if ('absence' in kind) throw new Error(`REQUIRE_CLUSTER: ${name}: ${kind.absence}`);
  }
}

function warnOfAbsence(): void {
  const absences = KINDS.flatMap((kind) =>
    'absence' in kind ? [`skipped on ${kind.kind}: ${kind.absence}`] : [],
  );
  if (absences.length > 0) console.warn(absences.join('\n'));
}
