import { afterAll, beforeAll, describe } from '@jest/globals';

import type { ClusterKind, PresentKind } from './cluster-kind.ts';
import type { Cluster, ClusterCapabilities } from './cluster.ts';
import { envtestKind } from './envtest-kind.ts';
import { existingKind } from './existing-kind.ts';
import { FAKE_KIND } from './fake-kind.ts';
import { k3sKind } from './k3s-kind.ts';

/** Longer than any kind takes to start, including the download of a container image. */
const START_TIMEOUT_MS = 300_000;

type Capability = keyof ClusterCapabilities;
type ClusterSuite = (openCluster: () => Promise<Cluster>, kind: Cluster['kind']) => void;

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
 * `describe`, once for each kind of API server that is available and has the capabilities that the
 * tests need:
 *
 * - `fake`: always.
 * - `envtest`: if kube-apiserver and etcd are found; see `findBinaries`.
 * - `k3s`: if a container engine answers.
 * - `existing`: if USE_EXISTING_CLUSTER is `true`.
 *
 * A missing kind is reported and skipped. It fails the run if REQUIRE_CLUSTER (`envtest,k3s`) names it.
 *
 * `openCluster` is for one user at a time, in a hook or in a test. The real servers start once per
 * file. All but `existing` contain only our definitions then; disposing of the cluster removes
 * everything else again.
 */
export function describeWithClusters(
  needs: readonly Capability[],
  title: string,
  suite: ClusterSuite,
): void {
  for (const present of PRESENT) {
    describeOn(present, title, suite, whyNotOn(present, needs));
  }
}

/**
 * `describe` for tests of whole processes, which take long: only on the kinds named by `on`. With
 * `E2E=all` they run on every available kind.
 *
 * `real` means every kind but `fake`; if no real one is available, it means `fake`.
 */
export function describeEndToEnd(
  on: 'fake' | 'real',
  needs: readonly Capability[],
  title: string,
  suite: ClusterSuite,
): void {
  const isFit = (present: PresentKind): boolean => whyNotOn(present, needs) === undefined;
  const isReal = (present: PresentKind): boolean => present.kind !== 'fake';
  const wantsReal = on === 'real' && PRESENT.some((present) => isReal(present) && isFit(present));
  for (const present of PRESENT) {
    const isChosen = isReal(present) === wantsReal || process.env['E2E'] === 'all';
    const whyNot = isChosen ? undefined : 'where it runs only with E2E=all';
    describeOn(present, title, suite, whyNotOn(present, needs) ?? whyNot);
  }
}

function describeOn(
  { kind, start, open }: PresentKind,
  title: string,
  suite: ClusterSuite,
  whyNot: string | undefined,
): void {
  if (whyNot !== undefined) console.warn(`skipped on ${kind}, ${whyNot}: ${title}`);
  (whyNot === undefined ? describe : describe.skip)(`${title} (${kind})`, () => {
    beforeAll(start, START_TIMEOUT_MS);
    suite(open, kind);
  });
}

function whyNotOn({ capabilities }: PresentKind, needs: readonly Capability[]): string | undefined {
  const lacking = needs.filter((need) => !capabilities[need]);
  return lacking.length === 0 ? undefined : `which lacks ${lacking.join(', ')}`;
}

function refuseAbsence(required: string): void {
  // The tests of whole clusters look for a node themselves.
  for (const name of required.split(',').filter((part) => !['', 'node'].includes(part))) {
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
